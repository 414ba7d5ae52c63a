// The one door through which an output reaches the disk: the system calls of writing, syncing and renaming, as they
// are. disk() makes them; tests put another behind the same door that makes any of them fail. Reading a checkpoint is
// no part of it (see file_set.h).
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace fsdpckpt {

/// Each function is the system call of its name: -1 and errno when it failed. Safe from several threads.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual int open(const std::string& path, int flags, mode_t mode) = 0;
  virtual int close(int descriptor) = 0;
  virtual int fallocate(int descriptor, std::uint64_t size) = 0;
  virtual int ftruncate(int descriptor, std::uint64_t size) = 0;
  virtual ssize_t pwrite(int descriptor, Bytes bytes, std::uint64_t offset) = 0;
  virtual ssize_t pread(int descriptor, MutableBytes out, std::uint64_t offset) = 0;
  virtual int fsync(int descriptor) = 0;
  /// sync_file_range(SYNC_FILE_RANGE_WRITE): the disk starts writing; nothing is promised.
  virtual int start_writeback(int descriptor, std::uint64_t offset, std::uint64_t length) = 0;
  /// posix_fadvise(POSIX_FADV_DONTNEED); a length of 0 reaches to the end.
  virtual int drop_pages(int descriptor, std::uint64_t offset, std::uint64_t length) = 0;

  virtual int rename(const std::string& from, const std::string& to) = 0;
  /// renameat2(RENAME_NOREPLACE).
  virtual int rename_new(const std::string& from, const std::string& to) = 0;
  virtual int link(const std::string& from, const std::string& to) = 0;
  virtual int unlink(const std::string& path) = 0;

  virtual int stat(const std::string& path, struct stat& status) = 0;
  virtual int lstat(const std::string& path, struct stat& status) = 0;
  /// faccessat(AT_EACCESS).
  virtual int access(const std::string& path, int mode) = 0;
  virtual int statvfs(const std::string& path, struct statvfs& status) = 0;
  /// All names in a folder, in no order: what opendir() and readdir() give.
  virtual int list(const std::string& folder, std::vector<std::string>& names) = 0;
};

/// The real one. It holds no state.
FileSystem& disk();

/// Makes a system call again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace fsdpckpt
