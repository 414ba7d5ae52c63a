// Remembers a digest of everything written through it, so that it can be read back and compared before the file is
// renamed into place (--verify).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "io/sink.h"

namespace fsdpckpt {

class VerifiedSink final : public PositionalSink {
 public:
  explicit VerifiedSink(ReadableSink& file) : file_(file) {}

  void write_at(std::uint64_t offset, Bytes bytes) override;
  [[nodiscard]] bool takes_one_writer() const override { return file_.takes_one_writer(); }
  /// Reads everything back from the disk and compares the digests (XXH3, 64 bits). Throws Error(io) naming the first
  /// byte range that differs, and what throw_if_stopped() throws.
  void verify(const std::atomic<int>* stop = nullptr);

 private:
  struct Written {
    std::uint64_t offset, length, digest;
  };
  ReadableSink& file_;
  std::mutex mutex_;
  std::vector<Written> written_;
};

}  // namespace fsdpckpt
