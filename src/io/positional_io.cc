#include "io/positional_io.h"

#include <cerrno>

#include "io/errors.h"

namespace fsdpckpt {

void write_all(FileSystem& files, int descriptor, std::uint64_t offset, Bytes bytes, const std::string& target) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted([&] { return files.pwrite(descriptor, bytes, offset); });
    if (written <= 0) throw system_error("write", written == 0 ? EIO : errno, target);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void read_all(FileSystem& files, int descriptor, std::uint64_t offset, MutableBytes out, const std::string& target) {
  while (!out.empty()) {
    const ssize_t got = uninterrupted([&] { return files.pread(descriptor, out, offset); });
    if (got < 0) throw system_error("read back", errno, target);
    if (got == 0) throw too_short("file", offset, out.size(), offset, target);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace fsdpckpt
