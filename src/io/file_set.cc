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
  std::optional<std::size_t> directory = {};     ///< in which it was found
  std::optional<SharedFiles::Found> found = {};  ///< by all ranks
};

Descriptor open_root(const std::string& root) {
  Descriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) return descriptor;
  if (errno == ENOENT) throw Error(ErrorKind::input, "directory is missing", {.path = root});
  if (errno == ENOTDIR) throw Error(ErrorKind::input, "not a directory", {.path = root});
  throw system_error("open directory", errno, root);
}

/// A directory that may lie on other hosts is closed where it is missing.
Descriptor open_if_here(const std::string& root) {
  return ::access(root.c_str(), F_OK) == 0 ? open_root(root) : Descriptor();
}

struct Directory {
  Directory(std::string where, bool is_shared)
      : path(std::move(where)), descriptor(is_shared ? open_if_here(path) : open_root(path)) {}
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
  State(std::string root, const std::vector<std::string>& others, SharedFiles* with) : shared(with) {
    directories.emplace_back(std::move(root), shared != nullptr);
    for (const std::string& other : others) directories.emplace_back(other, shared != nullptr);
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
  [[nodiscard]] std::optional<ConfinedStatus> look(std::size_t directory, const std::string& relative) const;

  SharedFiles* shared;
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

std::optional<ConfinedStatus> FileSet::State::look(std::size_t directory, const std::string& relative) const {
  if (!directories[directory].descriptor.is_open()) return std::nullopt;
  return find_confined(in_directory(directory, relative));
}

/// The first directory that has the file; the root when none has it.
std::size_t FileSet::State::find_directory(const std::string& relative) const {
  if (directories.size() == 1) return 0;
  std::optional<std::size_t> found;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const auto status = look(i, relative);
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

FileSet::FileSet(std::string root, const std::vector<std::string>& others, SharedFiles* shared)
    : state_(std::make_unique<State>(std::move(root), others, shared)) {}

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

void FileSet::end_sharing() { state_->shared = nullptr; }

const std::vector<bool>& FileSet::holders(FileId file) const {
  static const std::vector<bool> none;
  const std::lock_guard lock(state_->mutex);
  const auto& found = state_->entries.at(file).found;
  return found ? found->holders : none;
}

/// Asked of the other ranks once.
const SharedFiles::Found& FileSet::found_by_all(FileId file) const {
  auto& found = state_->entries.at(file).found;  // one thread while sharing
  if (!found) {
    try {
      found = state_->shared->find([&] { return size_here(file); });
    } catch (Error& error) {
      throw error.in_path(path(file));
    }
  }
  return *found;
}

std::optional<std::uint64_t> FileSet::size_here(FileId file) const {
  const ConfinedPath path = state_->confined(file);
  if (path.directory < 0) return std::nullopt;
  const auto status = find_confined(path);
  return status ? std::optional(status->identity.size) : std::nullopt;
}

bool FileSet::exists(FileId file) const {
  return state_->shared != nullptr ? !found_by_all(file).holders.empty() : size_here(file).has_value();
}

std::uint64_t FileSet::size(FileId file) const {
  if (state_->shared != nullptr) {
    const SharedFiles::Found& found = found_by_all(file);
    if (found.holders.empty()) throw Error(ErrorKind::input, "file is missing", {.path = path(file)});
    return found.size;
  }
  {
    const std::lock_guard lock(state_->mutex);
    if (const auto& first = state_->entries.at(file).first) return first->size;
  }
  return state_->acquire(file)->identity.size;
}

void FileSet::read_at(FileId file, std::uint64_t offset, MutableBytes out) const {
  if (state_->shared == nullptr) return read_here(file, offset, out);
  const std::uint64_t size = this->size(file);
  if (offset > size || out.size() > size - offset) throw too_short("file", offset, out.size(), size, path(file));
  state_->shared->read(
      found_by_all(file), [&](MutableBytes bytes) { read_here(file, offset, bytes); }, out);
}

void FileSet::read_here(FileId file, std::uint64_t offset, MutableBytes out) const {
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
  return state_->shared != nullptr ? state_->shared->list([this] { return names_here(); }) : names_here();
}

std::vector<std::string> FileSet::names_here() const {
  std::vector<std::string> names;
  for (const Directory& directory : state_->directories) {
    if (!directory.descriptor.is_open()) continue;
    const auto inside = regular_files_in(directory.descriptor.number(), directory.path);
    names.insert(names.end(), inside.begin(), inside.end());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace fsdpckpt
