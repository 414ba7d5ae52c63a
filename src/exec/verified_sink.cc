#include "exec/verified_sink.h"

#include <fsdpckpt/error.h>

#include "base/text.h"
#include "exec/stop.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fsdpckpt {

void VerifiedSink::write_at(std::uint64_t offset, Bytes bytes) {
  file_.write_at(offset, bytes);
  const std::uint64_t digest = XXH3_64bits(bytes.data(), bytes.size());
  const std::lock_guard lock(mutex_);
  written_.push_back({offset, bytes.size(), digest});
}

void VerifiedSink::verify(const std::atomic<int>* stop) {
  file_.drop_cache();
  std::vector<std::byte> bytes;
  for (const Written& part : written_) {
    throw_if_stopped(stop);
    bytes.resize(part.length);
    file_.read_at(part.offset, bytes);
    if (XXH3_64bits(bytes.data(), bytes.size()) == part.digest) continue;
    throw Error(ErrorKind::io,
                cat("bytes ", part.offset, "..", part.offset + part.length, " read back differ from what was written"),
                {.path = file_.target(), .offset = part.offset});
  }
}

}  // namespace fsdpckpt
