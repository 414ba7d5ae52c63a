#include "exec/write_queue.h"

#include <algorithm>

namespace fsdpckpt {

WriteQueue::WriteQueue(PositionalSink& sink, std::mutex& turn, std::size_t buffers)
    : sink_(sink),
      turn_(turn),
      buffers_(sink.takes_one_writer() ? std::max<std::size_t>(1, buffers) : 1),
      tiles_(buffers_.size()) {}

void WriteQueue::put(std::uint64_t offset) {
  tiles_[filled_].offset = offset;
  if (++filled_ == buffers_.size()) return flush();
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (turn.owns_lock()) write_all();
}

void WriteQueue::put(std::uint64_t offset, std::string bytes) {
  small_.push_back({offset, std::move(bytes)});
  if (buffers_.size() == 1) flush();
}

void WriteQueue::flush() {
  if (buffers_.size() == 1) return write_all();
  const std::lock_guard turn(turn_);
  write_all();
}

void WriteQueue::write_all() {
  for (std::size_t i = 0; i < filled_; ++i) sink_.write_at(tiles_[i].offset, tiles_[i].bytes);
  for (const Small& small : small_) sink_.write_at(small.offset, as_bytes(small.bytes));
  small_.clear();
  filled_ = 0;
}

}  // namespace fsdpckpt
