#include "io/file_set.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/text.h"
#include "io/confined_file.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

using Handle = std::shared_ptr<const ConfinedFile>;

struct Entry {
  std::string relative;
  Handle handle = {};  ///< empty while the file is closed
  std::uint64_t last_used = 0;
  std::optional<FileIdentity> first = {};  ///< as it was when it was first opened
  bool symlinked = false;
  std::optional<std::size_t> directory = {};  ///< in which it was found
};

Descriptor open_root(const std::string& root) {
  Descriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) return descriptor;
  if (errno == ENOENT) throw Error(ErrorKind::input, "directory is missing", {.path = root});
  if (errno == ENOTDIR) throw Error(ErrorKind::input, "not a directory", {.path = root});
  throw system_error("open directory", errno, root);
}

struct Directory {
  explicit Directory(std::string where) : path(std::move(where)), descriptor(open_root(path)) {}
  [[nodiscard]] std::string inside(const std::string& relative) const {
    if (path == ".") return relative;  // as the user names it
    return path.ends_with('/') ? path + relative : cat(path, '/', relative);
  }

  std::string path;
  Descriptor descriptor;
};

Error changed(std::string path) { return Error(ErrorKind::io, "changed while being read", {.path = std::move(path)}); }

class FileSource final : public Source {
 public:
  FileSource(const FileSet& files, FileId file) : files_(files), file_(file) {}
  [[nodiscard]] std::uint64_t size() const override { return files_.size(file_); }
  void read_at(std::uint64_t offset, MutableBytes out) const override { files_.read_at(file_, offset, out); }
  [[nodiscard]] std::string name() const override { return files_.path(file_); }

 private:
  const FileSet& files_;
  FileId file_;
};

}  // namespace

/// A reader takes a shared handle under the mutex and reads without it, so a file that is closed by another
/// thread's opening stays open until its last read is done.
struct FileSet::State {
  State(std::string root, const std::vector<std::string>& others) {
    directories.emplace_back(std::move(root));
    for (const std::string& other : others) directories.emplace_back(other);
  }

  [[nodiscard]] ConfinedPath in_directory(std::size_t directory, const std::string& relative) const {
    const Directory& holder = directories[directory];
    return {holder.descriptor.number(), relative, holder.inside(relative)};
  }
  [[nodiscard]] ConfinedPath confined(FileId file);
  [[nodiscard]] std::size_t find_directory(const std::string& relative) const;
  [[nodiscard]] Handle acquire(FileId file);
  [[nodiscard]] Handle keep(FileId file, ConfinedFile opened);
  void close_least_recently_used();

  std::deque<Directory> directories;  ///< the root first
  std::mutex mutex;                   ///< guards what follows
  std::deque<Entry> entries;
  std::unordered_map<std::string, FileId> ids;
  std::vector<FileId> open;
  std::uint64_t clock = 0;
};

ConfinedPath FileSet::State::confined(FileId file) {
  const std::lock_guard lock(mutex);
  Entry& entry = entries.at(file);
  if (!entry.directory) entry.directory = find_directory(entry.relative);
  return in_directory(*entry.directory, entry.relative);
}

/// The first directory that has the file; the root when none has it.
std::size_t FileSet::State::find_directory(const std::string& relative) const {
  if (directories.size() == 1) return 0;
  std::optional<std::size_t> found;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const auto status = find_confined(in_directory(i, relative));
    if (!status) continue;
    if (!found) {
      found = i;
      size = status->identity.size;
    } else if (size != status->identity.size) {
      throw Error(ErrorKind::input,
                  cat("the file has ", size, " bytes here and ", status->identity.size, " in ",
                      quote(directories[i].path), ": they belong to different checkpoints, or one was cut"),
                  {.path = directories[*found].inside(relative)});
    }
  }
  return found.value_or(0);
}

Handle FileSet::State::acquire(FileId file) {
  {
    const std::lock_guard lock(mutex);
    Entry& entry = entries.at(file);
    entry.last_used = ++clock;
    if (entry.handle) return entry.handle;
  }
  return keep(file, open_confined(confined(file)));
}

Handle FileSet::State::keep(FileId file, ConfinedFile opened) {
  const std::lock_guard lock(mutex);
  Entry& entry = entries[file];
  if (entry.first && *entry.first != opened.identity)
    throw changed(in_directory(*entry.directory, entry.relative).shown);
  if (entry.handle) return entry.handle;  // another thread was faster
  entry.first = opened.identity;
  entry.symlinked = opened.symlinked;
  entry.handle = std::make_shared<const ConfinedFile>(std::move(opened));
  if (open.size() >= kMaxOpenFiles) close_least_recently_used();
  open.push_back(file);
  return entry.handle;
}

void FileSet::State::close_least_recently_used() {
  const auto oldest =
      std::ranges::min_element(open, {}, [this](FileId candidate) { return entries[candidate].last_used; });
  entries[*oldest].handle.reset();
  open.erase(oldest);
}

FileSet::FileSet(std::string root, const std::vector<std::string>& others)
    : state_(std::make_unique<State>(std::move(root), others)) {}

FileSet::~FileSet() = default;

FileId FileSet::add(const std::string& relative_path) {
  check_confined(root(), relative_path);
  const std::lock_guard lock(state_->mutex);
  const auto [known, is_new] = state_->ids.emplace(relative_path, static_cast<FileId>(state_->entries.size()));
  if (is_new) state_->entries.push_back({.relative = relative_path});
  return known->second;
}

std::size_t FileSet::count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries.size();
}

const std::string& FileSet::relative_path(FileId file) const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries.at(file).relative;
}

std::string FileSet::path(FileId file) const { return state_->confined(file).shown; }

bool FileSet::exists(FileId file) const { return find_confined(state_->confined(file)).has_value(); }

std::uint64_t FileSet::size(FileId file) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto& first = state_->entries.at(file).first) return first->size;
  }
  return state_->acquire(file)->identity.size;
}

void FileSet::read_at(FileId file, std::uint64_t offset, MutableBytes out) const {
  const Handle handle = state_->acquire(file);
  const std::uint64_t size = handle->identity.size;
  if (offset > size || out.size() > size - offset) throw too_short("file", offset, out.size(), size, path(file));
  while (!out.empty()) {
    const ssize_t got = ::pread(handle->descriptor.number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read", errno, path(file));
    if (got == 0) throw changed(path(file));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void FileSet::check_unchanged() const {
  for (FileId file = 0; file < count(); ++file) {
    std::optional<FileIdentity> first;
    {
      const std::lock_guard lock(state_->mutex);
      first = state_->entries[file].first;
    }
    if (!first) continue;
    const auto now = find_confined(state_->confined(file));
    if (!now || now->identity != *first) throw changed(path(file));
  }
}

std::vector<FileId> FileSet::symlinked() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<FileId> result;
  for (FileId file = 0; file < state_->entries.size(); ++file) {
    if (state_->entries[file].symlinked) result.push_back(file);
  }
  return result;
}

std::unique_ptr<Source> FileSet::source(FileId file) const { return std::make_unique<FileSource>(*this, file); }

const std::string& FileSet::root() const { return state_->directories.front().path; }

std::vector<std::string> FileSet::directories() const {
  std::vector<std::string> paths;
  for (const Directory& directory : state_->directories) paths.push_back(directory.path);
  return paths;
}

std::vector<std::string> FileSet::list() const {
  std::vector<std::string> names;
  for (const Directory& directory : state_->directories) {
    const auto inside = regular_files_in(directory.descriptor.number(), directory.path);
    names.insert(names.end(), inside.begin(), inside.end());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace fsdpckpt
