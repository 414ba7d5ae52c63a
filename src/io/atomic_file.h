// A file that appears whole or not at all: written under a temporary name beside its target, synced,
// then renamed. Destroyed without commit(), it removes its temporary.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "io/sink.h"

namespace fsdpckpt {

struct AtomicFileOptions {
  bool replace = false;  ///< an existing target is replaced at commit; otherwise it is Error(refused)
  bool sync = true;      ///< fsync file and parent, and start writeback while the file is being written
  std::function<void(const std::string& temporary)> before_create;  ///< told each name before a file gets it
};

class AtomicFile final : public ReadableSink {
 public:
  /// Creates `.NAME.fsdpckpt-PID-RAND.tmp` (mode 0666 & ~umask, O_EXCL) beside `target` and reserves
  /// `size` bytes. Throws Error(refused) when the target exists and may not be replaced or is no regular file,
  /// Error(io) when the folder is missing or not writable or has less than `size` bytes free.
  /// `files` must outlive it.
  AtomicFile(std::string target, std::uint64_t size, const AtomicFileOptions& options, FileSystem& files = disk());
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Writes inside [0, size); beyond it is Error(bug).
  /// Also starts writeback of a 64 MiB stretch once it is complete when `sync` is set.
  void write_at(std::uint64_t offset, Bytes bytes) override;
  /// Known of the file systems that lock a file while it is written through the page cache.
  [[nodiscard]] bool takes_one_writer() const override { return takes_one_writer_; }
  void read_at(std::uint64_t offset, MutableBytes out) const override;
  void drop_cache() override;
  /// sync, close, rename into place (RENAME_NOREPLACE unless `replace`; link+unlink where the file system
  /// lacks it), sync the folder. After it returns the target is complete and survives a power cut (with `sync`).
  /// An Error(io) of syncing the folder leaves the target complete, and says so; any other leaves it as it was.
  /// `before_name` is called once the data is safe and before the name is given: what it throws ends the commit.
  void commit(const std::function<void()>& before_name = {});
  [[nodiscard]] const std::string& temporary_path() const { return temporary_; }
  [[nodiscard]] const std::string& target() const override { return target_; }

 private:
  struct NotCreated {};
  AtomicFile(std::string target, std::uint64_t size, const AtomicFileOptions& options, FileSystem& files, NotCreated);
  void create();
  void reserve();
  void sync_data();
  void close_checked();
  void start_writeback(std::uint64_t offset, std::uint64_t length);

  std::string target_;
  std::string temporary_;
  std::uint64_t size_;
  AtomicFileOptions options_;
  FileSystem& files_;
  int descriptor_ = -1;  ///< closed while negative
  bool temporary_exists_ = false;
  bool takes_one_writer_ = false;
  std::vector<std::atomic<std::uint64_t>> stretch_bytes_;  ///< bytes written so far per 64 MiB stretch
};

/// What a real run would refuse, without creating anything (for --dry-run): the same errors as AtomicFile's
/// constructor.
void check_writable(const std::string& target, std::uint64_t size, const AtomicFileOptions& options,
                    FileSystem& files = disk());

/// Names in `target`'s folder that look like temporaries of interrupted runs for this target.
std::vector<std::string> stale_temporaries(const std::string& target, FileSystem& files = disk());

/// True when `path` leads to an existing file to which one of `others` leads too, by device and inode.
bool is_one_of(const std::string& path, const std::vector<std::string>& others, FileSystem& files = disk());

/// True when the two paths name the same file or directory, or one lies inside the other (compared by device and inode
/// of every parent, so links do not fool it). A path that does not exist is judged by its nearest existing parent.
bool same_or_nested(const std::string& a, const std::string& b, FileSystem& files = disk());

}  // namespace fsdpckpt
