#include "io/file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace fsdpckpt {
namespace {

/// The result of a call that returns an error's number instead of setting errno.
int as_result(int number) {
  errno = number;
  return number == 0 ? 0 : -1;
}

off_t place(std::uint64_t offset) { return static_cast<off_t>(offset); }

class Disk final : public FileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override { return ::open(path.c_str(), flags, mode); }
  int close(int descriptor) override { return ::close(descriptor); }
  int fallocate(int descriptor, std::uint64_t size) override { return ::fallocate(descriptor, 0, 0, place(size)); }
  int ftruncate(int descriptor, std::uint64_t size) override { return ::ftruncate(descriptor, place(size)); }
  ssize_t pwrite(int descriptor, Bytes bytes, std::uint64_t offset) override {
    return ::pwrite(descriptor, bytes.data(), bytes.size(), place(offset));
  }
  ssize_t pread(int descriptor, MutableBytes out, std::uint64_t offset) override {
    return ::pread(descriptor, out.data(), out.size(), place(offset));
  }
  int fsync(int descriptor) override { return ::fsync(descriptor); }
  int start_writeback(int descriptor, std::uint64_t offset, std::uint64_t length) override {
    return ::sync_file_range(descriptor, place(offset), place(length), SYNC_FILE_RANGE_WRITE);
  }
  int drop_pages(int descriptor, std::uint64_t offset, std::uint64_t length) override {
    return as_result(::posix_fadvise(descriptor, place(offset), place(length), POSIX_FADV_DONTNEED));
  }

  int rename(const std::string& from, const std::string& to) override { return ::rename(from.c_str(), to.c_str()); }
  int rename_new(const std::string& from, const std::string& to) override {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  }
  int link(const std::string& from, const std::string& to) override { return ::link(from.c_str(), to.c_str()); }
  int unlink(const std::string& path) override { return ::unlink(path.c_str()); }

  int stat(const std::string& path, struct stat& status) override { return ::stat(path.c_str(), &status); }
  int lstat(const std::string& path, struct stat& status) override { return ::lstat(path.c_str(), &status); }
  int access(const std::string& path, int mode) override {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS);
  }
  int statvfs(const std::string& path, struct statvfs& status) override { return ::statvfs(path.c_str(), &status); }
  int list(const std::string& folder, std::vector<std::string>& names) override {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename());
    return as_result(error.value());
  }
};

}  // namespace

FileSystem& disk() {
  static Disk only;
  return only;
}

}  // namespace fsdpckpt
