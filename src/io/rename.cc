#include "io/rename.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "io/descriptor.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

Error rename_error(int number, const std::string& to) {
  if (number != EEXIST) return system_error("rename the finished file into place", number, to);
  return Error(ErrorKind::refused, "output already exists", {.path = to}, "pass --force to replace it");
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void rename_into_place(const std::string& from, const std::string& to, bool replace) {
  const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return;
  const bool unsupported = errno == EINVAL || errno == ENOSYS;
  if (!unsupported) throw rename_error(errno, to);
  if (!replace) return link_into_place(from, to);
  if (::rename(from.c_str(), to.c_str()) != 0) throw rename_error(errno, to);
}

void link_into_place(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) throw rename_error(errno, to);
  if (::unlink(from.c_str()) != 0) throw system_error("remove temporary", errno, from);
}

void sync_folder(const std::string& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) throw system_error("open directory", errno, folder);
  if (::fsync(descriptor.number()) != 0 && errno != EINVAL) throw system_error("sync directory", errno, folder);
}

}  // namespace fsdpckpt
