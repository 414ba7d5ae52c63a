// Memory for bytes that are about to be overwritten: not cleared, kept from use to use.
#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.h"

namespace fsdpckpt {

class Buffer {
 public:
  /// `size` bytes of any content, valid until the next call.
  MutableBytes take(std::size_t size) {
    if (size > capacity_) {
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
      capacity_ = size;
    }
    return {bytes_.get(), size};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
};

}  // namespace fsdpckpt
