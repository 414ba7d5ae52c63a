// The real file system with a fault in it, and a model beside it of what a power cut would leave of one folder.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_system.h"
#include "io/power_cut_model.h"

namespace fsdpckpt {

/// What happens to the calls `at` to `at + times`, counted from 0.
struct Fault {
  enum class Kind {
    fails,        ///< with `error`, and does nothing
    fails_done,   ///< with `error`, though it was done, as a lost answer of a network file system
    is_short,     ///< a pwrite writes one byte less than half; other calls are as always
    writes_none,  ///< a pwrite writes nothing and says so
    power_cut,    ///< with EIO, and nothing is done from then on, whatever `times` says
  };
  static constexpr std::size_t kForGood = SIZE_MAX / 2;

  std::size_t at = SIZE_MAX;
  std::size_t times = 1;
  Kind kind = Kind::fails;
  int error = 0;
  std::function<bool(std::string_view)> hits = [](std::string_view) { return true; };  ///< by the name of the call
};

class FaultyFileSystem final : public FileSystem {
 public:
  /// What lies in `folder` at this time is safe. Calls in `lacking` always fail, with that number: a file system that
  /// does not have them. Syncing does not wait for the real disk.
  explicit FaultyFileSystem(std::string folder, Fault fault = {}, std::map<std::string, int> lacking = {});

  /// The names of the calls so far. Those about the folder as a file are "open folder", "fsync folder", "close folder".
  [[nodiscard]] const std::vector<std::string>& calls() const { return calls_; }
  [[nodiscard]] const PowerCutModel& model() const { return model_; }

  int open(const std::string& path, int flags, mode_t mode) override;
  int close(int descriptor) override;
  int fallocate(int descriptor, std::uint64_t size) override;
  int ftruncate(int descriptor, std::uint64_t size) override;
  ssize_t pwrite(int descriptor, Bytes bytes, std::uint64_t offset) override;
  ssize_t pread(int descriptor, MutableBytes out, std::uint64_t offset) override;
  int fsync(int descriptor) override;
  int start_writeback(int descriptor, std::uint64_t offset, std::uint64_t length) override;
  int drop_pages(int descriptor, std::uint64_t offset, std::uint64_t length) override;
  int rename(const std::string& from, const std::string& to) override;
  int rename_new(const std::string& from, const std::string& to) override;
  int link(const std::string& from, const std::string& to) override;
  int unlink(const std::string& path) override;
  int stat(const std::string& path, struct stat& status) override;
  int lstat(const std::string& path, struct stat& status) override;
  int access(const std::string& path, int mode) override;
  int statvfs(const std::string& path, struct statvfs& status) override;
  int list(const std::string& folder, std::vector<std::string>& names) override;

 private:
  static constexpr PowerCutModel::File kFolder = SIZE_MAX;

  /// Counts the call and says what happens to it; Kind::fails with error 0 is nothing.
  std::pair<Fault::Kind, int> next(const std::string& call);
  int fails(const std::string& call, const std::function<int()>& act);
  /// "fsync" or "fsync folder".
  std::string named(const char* call, int descriptor) const;
  static std::string name_in(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

  std::string folder_;
  Fault fault_;
  std::map<std::string, int> lacking_;
  std::recursive_mutex mutex_;  ///< held during each call; guards what follows
  PowerCutModel model_;
  std::vector<std::string> calls_;
  std::map<int, PowerCutModel::File> open_;
};

}  // namespace fsdpckpt
