#include "io/joined_file.h"

#include <fcntl.h>

#include <cerrno>

#include "io/errors.h"
#include "io/positional_io.h"

namespace fsdpckpt {

FileToken token_of(const std::string& path, FileSystem& files) {
  struct stat status = {};
  if (files.lstat(path, status) != 0) return {};
  return {.inode = status.st_ino, .size = static_cast<std::uint64_t>(status.st_size)};
}

JoinedFile::JoinedFile(const std::string& path, std::string target, FileSystem& files)
    : target_(std::move(target)),
      files_(files),
      descriptor_(uninterrupted([&] { return files.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0); })) {
  if (descriptor_ < 0) throw system_error("open for writing", errno, path);
}

JoinedFile::~JoinedFile() { files_.close(descriptor_); }

void JoinedFile::write_at(std::uint64_t offset, Bytes bytes) { write_all(files_, descriptor_, offset, bytes, target_); }

void JoinedFile::read_at(std::uint64_t offset, MutableBytes out) const {
  read_all(files_, descriptor_, offset, out, target_);
}

void JoinedFile::drop_cache() {
  sync();
  files_.drop_pages(descriptor_, 0, 0);
}

void JoinedFile::sync() {
  if (uninterrupted([&] { return files_.fsync(descriptor_); }) != 0) throw system_error("sync", errno, target_);
}

}  // namespace fsdpckpt
