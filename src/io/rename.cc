#include "io/rename.h"

#include <fcntl.h>

#include <cerrno>

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

constexpr const char* kForce = "pass --force to replace it";

/// What file systems answer that do not have a call.
bool is_unsupported(int number) { return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP; }

Error rename_error(int number, const std::string& to) {
  if (number != EEXIST) return system_error("rename the finished file into place", number, to);
  return Error(ErrorKind::refused, "output already exists", {.path = to}, kForce);
}

/// NFS asks again when the answer was lost, and may then find the link that it made itself.
bool is_linked(const std::string& from, const std::string& to, FileSystem& files) {
  if (uninterrupted([&] { return files.link(from, to); }) == 0) return true;
  const int number = errno;
  if (number == EEXIST && is_one_of(from, {to}, files)) return true;
  errno = number;
  return false;
}

void link_into_place(const std::string& from, const std::string& to, FileSystem& files) {
  if (!is_linked(from, to, files)) {
    if (!is_unsupported(errno) && errno != EPERM) throw rename_error(errno, to);
    throw Error(ErrorKind::io, "this file system cannot rename a file without replacing what may be there",
                {.path = to}, "pass --force: an existing output is then replaced");
  }
  if (uninterrupted([&] { return files.unlink(from); }) != 0)
    throw system_error("remove temporary (the output is complete)", errno, from);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void rename_into_place(const std::string& from, const std::string& to, bool replace, FileSystem& files) {
  const auto rename = [&] { return replace ? files.rename(from, to) : files.rename_new(from, to); };
  if (uninterrupted(rename) == 0) return;
  if (replace || !is_unsupported(errno)) throw rename_error(errno, to);
  link_into_place(from, to, files);
}

void sync_name_of(const std::string& path, FileSystem& files) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const std::string folder = folder_of(path);
  const int descriptor = uninterrupted([&] { return files.open(folder, kFlags, 0); });
  int number = descriptor < 0 ? errno : 0;
  if (descriptor >= 0) {
    if (uninterrupted([&] { return files.fsync(descriptor); }) != 0 && errno != EINVAL) number = errno;
    files.close(descriptor);
  }
  if (number == 0) return;
  throw system_error("sync directory (the output is complete, but may not survive a power cut)", number, path);
}

}  // namespace fsdpckpt
