// Where bytes go. Two kinds from the first day: positional (pwrite, several threads at once) and
// sequential (append only: pipes, FUSE mounts, uploads).
#pragma once

#include <cstdint>
#include <string>

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

/// A sink whose bytes can be read again, for verification before they get their name.
class ReadableSink : public PositionalSink {
 public:
  /// Reads back what was written. Throws Error(io).
  virtual void read_at(std::uint64_t offset, MutableBytes out) const = 0;
  /// Drops the written pages from the cache after syncing them, so that read_at sees the disk.
  virtual void drop_cache() = 0;
  /// As the file will be called, for messages.
  [[nodiscard]] virtual const std::string& target() const = 0;
};

class SequentialSink {
 public:
  virtual ~SequentialSink() = default;
  /// Writes all of `bytes` after what was written before. Throws Error(io). One thread.
  virtual void append(Bytes bytes) = 0;
};

}  // namespace fsdpckpt
