#include "io/faulty_file_system.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace fsdpckpt {
namespace {

using Kind = Fault::Kind;

int failed(int number) {
  errno = number;
  return -1;
}

}  // namespace

FaultyFileSystem::FaultyFileSystem(std::string folder, Fault fault, std::map<std::string, int> lacking)
    : folder_(std::move(folder)), fault_(std::move(fault)), lacking_(std::move(lacking)) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    model_.put(entry.path().filename(), {std::istreambuf_iterator<char>(file), {}});
  }
}

std::pair<Kind, int> FaultyFileSystem::next(const std::string& call) {
  const std::size_t number = calls_.size();
  calls_.push_back(call);
  const bool is_cut = fault_.kind == Kind::power_cut && number >= fault_.at;
  if (is_cut) return {Kind::power_cut, EIO};
  if (number >= fault_.at && number - fault_.at < fault_.times && fault_.hits(call)) return {fault_.kind, fault_.error};
  const auto lacking = lacking_.find(call);
  return {Kind::fails, lacking == lacking_.end() ? 0 : lacking->second};
}

int FaultyFileSystem::fails(const std::string& call, const std::function<int()>& act) {
  const std::lock_guard lock(mutex_);
  const auto [kind, error] = next(call);
  if (error == 0) return act();
  if (kind == Kind::fails_done) act();
  return failed(error);
}

std::string FaultyFileSystem::named(const char* call, int descriptor) const {
  return std::string(call) + (open_.at(descriptor) == kFolder ? " folder" : "");
}

int FaultyFileSystem::open(const std::string& path, int flags, mode_t mode) {
  const bool is_folder = path == folder_;
  return fails(is_folder ? "open folder" : "open", [&] {
    const int descriptor = disk().open(path, flags, mode);
    if (descriptor >= 0) open_[descriptor] = is_folder ? kFolder : model_.create(name_in(path));
    return descriptor;
  });
}

// Linux closes the descriptor whatever it answers.
int FaultyFileSystem::close(int descriptor) {
  const std::lock_guard lock(mutex_);
  const std::string call = named("close", descriptor);
  open_.erase(descriptor);
  disk().close(descriptor);
  return fails(call, [] { return 0; });
}

int FaultyFileSystem::fallocate(int descriptor, std::uint64_t size) {
  return fails("fallocate", [&] {
    model_.resize(open_.at(descriptor), size);
    return disk().fallocate(descriptor, size);
  });
}

int FaultyFileSystem::ftruncate(int descriptor, std::uint64_t size) {
  return fails("ftruncate", [&] {
    model_.resize(open_.at(descriptor), size);
    return disk().ftruncate(descriptor, size);
  });
}

ssize_t FaultyFileSystem::pwrite(int descriptor, Bytes bytes, std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto [kind, error] = next("pwrite");
  if (kind == Kind::writes_none) return 0;
  if (kind == Kind::is_short && bytes.size() > 1) bytes = bytes.first((bytes.size() - 1) / 2 + 1);
  if (error != 0) return failed(error);
  model_.write(open_.at(descriptor), offset, as_text(bytes));
  return disk().pwrite(descriptor, bytes, offset);
}

ssize_t FaultyFileSystem::pread(int descriptor, MutableBytes out, std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto [kind, error] = next("pread");
  if (kind == Kind::is_short && out.size() > 1) out = out.first(out.size() / 2);
  return error != 0 ? failed(error) : disk().pread(descriptor, out, offset);
}

int FaultyFileSystem::fsync(int descriptor) {
  const std::lock_guard lock(mutex_);
  const auto file = open_.at(descriptor);
  const auto [kind, error] = next(named("fsync", descriptor));
  if (error != 0) {
    const bool drops = kind != Kind::power_cut && error != EINTR && file != kFolder;
    if (drops) model_.fail_sync(file);
    return failed(error);
  }
  if (file == kFolder)
    model_.sync_folder();
  else
    model_.sync(file);
  return 0;
}

int FaultyFileSystem::start_writeback(int descriptor, std::uint64_t offset, std::uint64_t length) {
  return fails("start_writeback", [&] { return disk().start_writeback(descriptor, offset, length); });
}

int FaultyFileSystem::drop_pages(int descriptor, std::uint64_t offset, std::uint64_t length) {
  return fails("drop_pages", [&] { return disk().drop_pages(descriptor, offset, length); });
}

int FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  return fails("rename", [&] {
    const int result = disk().rename(from, to);
    if (result == 0) model_.rename(name_in(from), name_in(to));
    return result;
  });
}

int FaultyFileSystem::rename_new(const std::string& from, const std::string& to) {
  return fails("rename_new", [&] {
    const int result = disk().rename_new(from, to);
    if (result == 0) model_.rename(name_in(from), name_in(to));
    return result;
  });
}

int FaultyFileSystem::link(const std::string& from, const std::string& to) {
  return fails("link", [&] {
    const int result = disk().link(from, to);
    if (result == 0) model_.link(name_in(from), name_in(to));
    return result;
  });
}

int FaultyFileSystem::unlink(const std::string& path) {
  return fails("unlink", [&] {
    const int result = disk().unlink(path);
    if (result == 0) model_.unlink(name_in(path));
    return result;
  });
}

int FaultyFileSystem::stat(const std::string& path, struct stat& status) {
  return fails("stat", [&] { return disk().stat(path, status); });
}

int FaultyFileSystem::lstat(const std::string& path, struct stat& status) {
  return fails("lstat", [&] { return disk().lstat(path, status); });
}

int FaultyFileSystem::access(const std::string& path, int mode) {
  return fails("access", [&] { return disk().access(path, mode); });
}

int FaultyFileSystem::statvfs(const std::string& path, struct statvfs& status) {
  return fails("statvfs", [&] { return disk().statvfs(path, status); });
}

int FaultyFileSystem::list(const std::string& folder, std::vector<std::string>& names) {
  return fails("list", [&] { return disk().list(folder, names); });
}

}  // namespace fsdpckpt
