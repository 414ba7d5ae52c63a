// What is refused before anything is written, and what is found beside a target.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

void check_target(const std::string& target, bool replace, FileSystem& files) {
  const std::string name = name_of(target);
  if (name.empty() || name == "." || name == "..") throw refused(target, "output is no file name");
  struct stat status;
  if (uninterrupted([&] { return files.lstat(target, status); }) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw system_error("look at output", errno, target);
  }
  // A link is judged by what it leads to; if it leads nowhere it is only a name.
  if (S_ISLNK(status.st_mode) && uninterrupted([&] { return files.stat(target, status); }) != 0)
    status.st_mode = S_IFREG;
  if (S_ISDIR(status.st_mode)) throw refused(target, "output is a directory");
  if (!S_ISREG(status.st_mode)) throw refused(target, "output is not a regular file");
  if (!replace) throw refused(target, "output already exists", "pass --force to replace it");
}

void check_folder(const std::string& folder, bool sync, FileSystem& files) {
  struct stat status;
  if (uninterrupted([&] { return files.stat(folder, status); }) != 0) {
    if (errno == ENOENT) throw Error(ErrorKind::io, "the folder for the output does not exist", {.path = folder});
    throw system_error("write into directory", errno, folder);
  }
  if (!S_ISDIR(status.st_mode)) throw system_error("write into directory", ENOTDIR, folder);
  const auto access = [&](int mode) { return uninterrupted([&] { return files.access(folder, mode); }); };
  if (access(W_OK | X_OK) != 0) throw system_error("write into directory", errno, folder);
  // Found only after the rename it would come too late.
  if (sync && access(R_OK) != 0)
    throw system_error("open directory to sync it", errno, folder).with_hint("pass --no-fsync");
}

/// What a killed run left has all of its space reserved.
std::string hint_of_stale(const std::string& target, FileSystem& files) {
  std::string names;
  for (const std::string& name : stale_temporaries(target, files)) names += (names.empty() ? "" : ", ") + quote(name);
  return names.empty() ? "" : cat("remove ", names, " unless another run is using it");
}

void check_space(const std::string& target, std::uint64_t size, FileSystem& files) {
  const std::string folder = folder_of(target);
  struct statvfs status;
  if (uninterrupted([&] { return files.statvfs(folder, status); }) != 0)
    throw system_error("look at file system", errno, folder);
  if (status.f_blocks == 0) return;  // the file system does not say
  std::uint64_t free = 0;
  if (__builtin_mul_overflow(status.f_bavail, status.f_frsize, &free)) free = UINT64_MAX;
  if (free >= size) return;
  throw Error(ErrorKind::io,
              cat("not enough space: ", size, " bytes (", human_size(size), ") are needed, ", free, " bytes (",
                  human_size(free), ") are free"),
              {.path = folder}, hint_of_stale(target, files));
}

}  // namespace

std::string name_of(const std::string& target) { return target.substr(target.find_last_of('/') + 1); }

std::string temporary_prefix(const std::string& target) { return cat('.', name_of(target), ".fsdpckpt-"); }

void check_writable(const std::string& target, std::uint64_t size, const AtomicFileOptions& options,
                    FileSystem& files) {
  check_target(target, options.replace, files);
  check_folder(folder_of(target), options.sync, files);
  check_space(target, size, files);
}

std::vector<std::string> stale_temporaries(const std::string& target, FileSystem& files) {
  const std::string prefix = temporary_prefix(target);
  std::vector<std::string> names;
  files.list(folder_of(target), names);  // what cannot be listed is left without a note
  std::erase_if(
      names, [&](const std::string& name) { return !name.starts_with(prefix) || !name.ends_with(kTemporarySuffix); });
  std::ranges::sort(names);
  return names;
}

}  // namespace fsdpckpt
