// Sinks that keep what is written in memory.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "io/sink.h"

namespace fsdpckpt {

class MemoryPositionalSink final : public PositionalSink {
 public:
  void write_at(std::uint64_t offset, Bytes bytes) override {
    const std::lock_guard lock(mutex_);
    if (content_.size() < offset + bytes.size()) content_.resize(offset + bytes.size());
    content_.replace(offset, bytes.size(), as_text(bytes));
    ++writes_;
  }
  /// What was written, with zero bytes in the gaps.
  [[nodiscard]] const std::string& content() const { return content_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  std::mutex mutex_;
  std::string content_;
  std::size_t writes_ = 0;
};

class MemorySequentialSink final : public SequentialSink {
 public:
  void append(Bytes bytes) override {
    content_ += as_text(bytes);
    ++writes_;
  }
  [[nodiscard]] const std::string& content() const { return content_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  std::string content_;
  std::size_t writes_ = 0;
};

}  // namespace fsdpckpt
