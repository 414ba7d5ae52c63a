// What a thread has finished and not yet written. Where a file takes one writer at a time, a second one would wait,
// spinning on a lock of the kernel; here it goes on reading instead, and writes when it is its turn or its buffers are
// full.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "io/sink.h"

namespace fsdpckpt {

class WriteQueue {
 public:
  /// Writes to `sink` while holding `turn`, which all queues of the sink share. With one buffer, or a sink that takes
  /// several writers at once, nothing waits: each buffer is written when it is put.
  WriteQueue(PositionalSink& sink, std::mutex& turn, std::size_t buffers);

  /// `size` bytes to fill next, with any content. Valid until put().
  MutableBytes next(std::size_t size) { return tiles_[filled_].bytes = buffers_[filled_].take(size); }
  /// What next() gave is to be written at `offset`. Throws what the sink throws.
  void put(std::uint64_t offset);
  /// A few bytes of their own, such as a header.
  void put(std::uint64_t offset, std::string bytes);
  /// Writes all that was put.
  void flush();

 private:
  struct Tile {
    std::uint64_t offset = 0;
    MutableBytes bytes;
  };
  struct Small {
    std::uint64_t offset;
    std::string bytes;
  };
  void write_all();

  PositionalSink& sink_;
  std::mutex& turn_;
  std::vector<Buffer> buffers_;
  std::vector<Tile> tiles_;  ///< in the buffers
  std::vector<Small> small_;
  std::size_t filled_ = 0;
};

}  // namespace fsdpckpt
