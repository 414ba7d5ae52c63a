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
};

Error changed(std::string path) { return Error(ErrorKind::io, "changed while being read", {.path = std::move(path)}); }

Descriptor open_root(const std::string& root) {
  Descriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) return descriptor;
  if (errno == ENOENT) throw Error(ErrorKind::input, "directory is missing", {.path = root});
  if (errno == ENOTDIR) throw Error(ErrorKind::input, "not a directory", {.path = root});
  throw system_error("open directory", errno, root);
}

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
  explicit State(std::string where) : root(std::move(where)), descriptor(open_root(root)) {}

  [[nodiscard]] std::string path(const std::string& relative) const {
    return root.ends_with('/') ? root + relative : cat(root, '/', relative);
  }
  [[nodiscard]] ConfinedPath confined(FileId file);
  [[nodiscard]] Handle acquire(FileId file);
  [[nodiscard]] Handle keep(FileId file, ConfinedFile opened);
  void close_least_recently_used();

  std::string root;
  Descriptor descriptor;
  std::mutex mutex;  ///< guards what follows
  std::deque<Entry> entries;
  std::unordered_map<std::string, FileId> ids;
  std::vector<FileId> open;
  std::uint64_t clock = 0;
};

ConfinedPath FileSet::State::confined(FileId file) {
  const std::lock_guard lock(mutex);
  const std::string& relative = entries.at(file).relative;
  return {descriptor.number(), relative, path(relative)};
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
  if (entry.first && *entry.first != opened.identity) throw changed(path(entry.relative));
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

FileSet::FileSet(std::string root) : state_(std::make_unique<State>(std::move(root))) {}

FileSet::~FileSet() = default;

FileId FileSet::add(const std::string& relative_path) {
  check_confined(state_->root, relative_path);
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

std::string FileSet::path(FileId file) const { return state_->path(relative_path(file)); }

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

const std::string& FileSet::root() const { return state_->root; }

std::vector<std::string> FileSet::list() const { return regular_files_in(state_->descriptor.number(), state_->root); }

}  // namespace fsdpckpt
