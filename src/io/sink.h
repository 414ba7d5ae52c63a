// Where bytes go. Two kinds from the first day: positional (pwrite, several threads at once) and
// sequential (append only: pipes, FUSE mounts, uploads).
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace fsdpckpt {

class PositionalSink {
 public:
  virtual ~PositionalSink() = default;
  /// Writes all of `bytes` at `offset`. Throws Error(io). Safe from several threads on disjoint ranges.
  virtual void write_at(std::uint64_t offset, Bytes bytes) = 0;
  /// True when a second thread in write_at() would only wait for the first.
  [[nodiscard]] virtual bool takes_one_writer() const { return false; }
};

class SequentialSink {
 public:
  virtual ~SequentialSink() = default;
  /// Writes all of `bytes` after what was written before. Throws Error(io). One thread.
  virtual void append(Bytes bytes) = 0;
};

}  // namespace fsdpckpt
