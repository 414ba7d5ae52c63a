// What is refused before anything is written, and what is found beside a target.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/errors.h"
#include "io/output_name.h"
#include "io/rename.h"

namespace fsdpckpt {
namespace {

Error refused(const std::string& target, const char* what, const char* hint = "") {
  return Error(ErrorKind::refused, what, {.path = target}, hint);
}

void check_target(const std::string& target, bool replace) {
  const std::string name = name_of(target);
  if (name.empty() || name == "." || name == "..") throw refused(target, "output is no file name");
  struct stat status;
  if (::lstat(target.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw system_error("look at output", errno, target);
  }
  // A link is judged by what it leads to; if it leads nowhere it is only a name.
  if (S_ISLNK(status.st_mode) && ::stat(target.c_str(), &status) != 0) status.st_mode = S_IFREG;
  if (S_ISDIR(status.st_mode)) throw refused(target, "output is a directory");
  if (!S_ISREG(status.st_mode)) throw refused(target, "output is not a regular file");
  if (!replace) throw refused(target, "output already exists", "pass --force to replace it");
}

void check_folder(const std::string& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) throw Error(ErrorKind::io, "the folder for the output does not exist", {.path = folder});
    throw system_error("write into directory", errno, folder);
  }
  if (!S_ISDIR(status.st_mode)) throw system_error("write into directory", ENOTDIR, folder);
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    throw system_error("write into directory", errno, folder);
  }
}

void check_space(const std::string& folder, std::uint64_t size) {
  struct statvfs status;
  if (::statvfs(folder.c_str(), &status) != 0) throw system_error("look at file system", errno, folder);
  if (status.f_blocks == 0) return;  // the file system does not say
  std::uint64_t free = 0;
  if (__builtin_mul_overflow(status.f_bavail, status.f_frsize, &free)) free = UINT64_MAX;
  if (free >= size) return;
  throw Error(ErrorKind::io,
              cat("not enough space: ", size, " bytes (", human_size(size), ") are needed, ", free, " bytes (",
                  human_size(free), ") are free"),
              {.path = folder});
}

}  // namespace

std::string name_of(const std::string& target) { return target.substr(target.find_last_of('/') + 1); }

std::string temporary_prefix(const std::string& target) { return cat('.', name_of(target), ".fsdpckpt-"); }

void check_writable(const std::string& target, std::uint64_t size, AtomicFileOptions options) {
  check_target(target, options.replace);
  check_folder(folder_of(target));
  check_space(folder_of(target), size);
}

std::vector<std::string> stale_temporaries(const std::string& target) {
  const std::string prefix = temporary_prefix(target);
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_of(target), error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with(prefix) && name.ends_with(kTemporarySuffix)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace fsdpckpt
