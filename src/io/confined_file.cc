#include "io/confined_file.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/text.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

Error refused(const ConfinedPath& path, const char* what) {
  return Error(ErrorKind::refused, what, {.path = path.shown});
}

bool has_parent_component(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

/// Nothing when it does not exist. A name that is too long cannot exist.
std::optional<struct stat> status_of(const ConfinedPath& path, const std::string& relative, int flags) {
  struct stat status;
  if (::fstatat(path.directory, relative.c_str(), &status, flags) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return std::nullopt;
  if (errno == ELOOP) throw refused(path, "symbolic links lead in a circle");
  throw system_error("look at file", errno, path.shown);
}

void refuse_linked_directories(const ConfinedPath& path) {
  for (std::size_t slash = path.relative.find('/'); slash != std::string::npos;
       slash = path.relative.find('/', slash + 1)) {
    const auto status = status_of(path, path.relative.substr(0, slash), AT_SYMLINK_NOFOLLOW);
    if (!status) return;
    if (S_ISLNK(status->st_mode)) throw refused(path, "a directory on the way to the file is a symbolic link");
  }
}

void require_regular(const ConfinedPath& path, const struct stat& status, bool symlinked) {
  if (S_ISREG(status.st_mode)) return;
  throw refused(path, symlinked ? "symbolic link does not end at a regular file" : "not a regular file");
}

Error missing(const ConfinedPath& path) {
  const bool is_link = status_of(path, path.relative, AT_SYMLINK_NOFOLLOW).has_value();
  return Error(ErrorKind::input, is_link ? "file is missing: its symbolic link leads nowhere" : "file is missing",
               {.path = path.shown});
}

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

FileIdentity::FileIdentity(const struct stat& status)
    : device(status.st_dev),
      inode(status.st_ino),
      size(static_cast<std::uint64_t>(status.st_size)),
      modified_s(status.st_mtim.tv_sec),
      modified_ns(status.st_mtim.tv_nsec) {}

void check_confined(const std::string& root, const std::string& relative) {
  const bool confined = !relative.empty() && relative.front() != '/' && relative.find('\0') == std::string::npos &&
                        !has_parent_component(relative);
  if (confined) return;
  throw Error(ErrorKind::refused, cat("file name does not stay in the directory: ", quote(relative)), {.path = root});
}

std::optional<ConfinedStatus> find_confined(const ConfinedPath& path) {
  refuse_linked_directories(path);
  auto status = status_of(path, path.relative, AT_SYMLINK_NOFOLLOW);
  const bool symlinked = status && S_ISLNK(status->st_mode);
  if (symlinked) status = status_of(path, path.relative, 0);
  if (!status) return std::nullopt;
  require_regular(path, *status, symlinked);
  return ConfinedStatus{FileIdentity(*status), symlinked};
}

ConfinedFile open_confined(const ConfinedPath& path) {
  // Looking first keeps devices from being opened at all; what was opened is looked at again.
  const auto found = find_confined(path);
  if (!found) throw missing(path);
  Descriptor descriptor;
  do {
    descriptor = Descriptor(::openat(path.directory, path.relative.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  } while (!descriptor.is_open() && errno == EINTR);
  if (!descriptor.is_open()) throw system_error("open", errno, path.shown);
  struct stat status;
  if (::fstat(descriptor.number(), &status) != 0) throw system_error("look at file", errno, path.shown);
  require_regular(path, status, found->symlinked);
  return {std::move(descriptor), FileIdentity(status), found->symlinked};
}

std::vector<std::string> regular_files_in(int directory, const std::string& shown) {
  Descriptor descriptor(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) throw system_error("list directory", errno, shown);
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(descriptor.number()));
  if (stream == nullptr) throw system_error("list directory", errno, shown);
  const int number = descriptor.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* found = ::readdir(stream.get())) {
    struct stat status;
    if (::fstatat(number, found->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) names.emplace_back(found->d_name);
    errno = 0;
  }
  if (errno != 0) throw system_error("list directory", errno, shown);
  std::ranges::sort(names);
  return names;
}

}  // namespace fsdpckpt
