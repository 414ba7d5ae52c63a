// Storage of the arena's texts: each contiguous, in blocks that never move, released last in, first out.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pickle/budget.h"

namespace fsdpckpt::pickle {

class TextBlocks {
 public:
  /// Room for `length` > 0 bytes.
  char* add(std::size_t length, Budget& budget);
  /// Gives back the text at `text` and everything added after it.
  void release(const char* text) noexcept;
  /// Gives back everything and keeps the blocks.
  void clear() noexcept;
  /// Frees the blocks.
  void free(Budget& budget) noexcept;

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  void add_block(std::size_t length, Budget& budget);

  std::vector<Block> blocks_;
  std::size_t current_ = 0;  ///< blocks behind it are empty
};

}  // namespace fsdpckpt::pickle
