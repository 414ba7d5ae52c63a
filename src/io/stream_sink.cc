#include "io/stream_sink.h"

#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "io/errors.h"

namespace fsdpckpt {

void DescriptorSink::append(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("write", errno, name_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void InOrderSink::write_at(std::uint64_t offset, Bytes bytes) {
  if (offset != position_)
    throw Error(ErrorKind::bug, cat("write at ", offset, " to a stream that stands at ", position_));
  sink_.append(bytes);
  position_ += bytes.size();
}

}  // namespace fsdpckpt
