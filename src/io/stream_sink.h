// The two ends of writing front to back: a descriptor that only takes appended bytes (pipes, FUSE mounts, uploads), and
// the adapter that lets a writer of places write to it as long as its places follow each other.
#pragma once

#include <cstdint>
#include <string>

#include "io/sink.h"

namespace fsdpckpt {

/// Appends to an open descriptor that the caller owns; `name` is for messages. Throws Error(io).
class DescriptorSink final : public SequentialSink {
 public:
  DescriptorSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  void append(Bytes bytes) override;

 private:
  int descriptor_;
  std::string name_;
};

/// Takes writes in ascending order without gaps; any other is Error(bug).
class InOrderSink final : public PositionalSink {
 public:
  explicit InOrderSink(SequentialSink& sink) : sink_(sink) {}
  void write_at(std::uint64_t offset, Bytes bytes) override;

 private:
  SequentialSink& sink_;
  std::uint64_t position_ = 0;
};

}  // namespace fsdpckpt
