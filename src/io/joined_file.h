// The output of another process, which this one helps to write: an AtomicFile's temporary, opened by its name.
#pragma once

#include <cstdint>
#include <string>

#include "io/file_system.h"
#include "io/sink.h"

namespace fsdpckpt {

/// What tells a file from others of the same name on other hosts.
struct FileToken {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
};

/// Of the file at `path`; zeros when it cannot be looked at.
FileToken token_of(const std::string& path, FileSystem& files = disk());

class JoinedFile final : public ReadableSink {
 public:
  /// Opens what is there; the file keeps its size. Throws Error(io) naming `target`, as the file will be called.
  JoinedFile(const std::string& path, std::string target, FileSystem& files = disk());
  ~JoinedFile() override;
  JoinedFile(const JoinedFile&) = delete;
  JoinedFile& operator=(const JoinedFile&) = delete;

  void write_at(std::uint64_t offset, Bytes bytes) override;
  void read_at(std::uint64_t offset, MutableBytes out) const override;
  void drop_cache() override;
  [[nodiscard]] const std::string& target() const override { return target_; }
  /// What this process wrote survives a power cut. Throws Error(io).
  void sync();

 private:
  std::string target_;
  FileSystem& files_;
  int descriptor_;
};

}  // namespace fsdpckpt
