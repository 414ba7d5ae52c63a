// The files of one input directory, or of one that is spread over several (each node's local disk): opened confined to
// their directory, when first read, at most kMaxOpenFiles at a time (least recently used is closed), read-only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/shared_files.h"
#include "io/source.h"

namespace fsdpckpt {

inline constexpr int kMaxOpenFiles = 64;

using FileId = std::uint32_t;

class FileSet {
 public:
  /// `root` is an existing directory; every file is opened relative to it.
  /// Throws Error(input) when it does not exist or is no directory.
  /// Files that are not in it are looked for in `others`, in that order; a file that lies in several of the directories
  /// must have the same size everywhere: Error(input) otherwise, when it is first looked at.
  /// With `shared`, which must outlive the sharing, the files of all ranks' hosts count, all ranks must make the same
  /// calls from one thread, and no directory needs to be on every host.
  explicit FileSet(std::string root, const std::vector<std::string>& others = {}, SharedFiles* shared = nullptr);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  /// Registers a file by its path relative to the root and returns its id; the same path gives the same id.
  /// A path that is empty, absolute, holds NUL or a `..` component throws Error(refused). The file need not exist.
  FileId add(const std::string& relative_path);

  [[nodiscard]] std::size_t count() const;
  /// As registered.
  [[nodiscard]] const std::string& relative_path(FileId file) const;
  /// Directory + "/" + relative path, for messages.
  [[nodiscard]] std::string path(FileId file) const;
  /// False when nothing is there; anything but a regular file (or a symlink to one) throws Error(refused).
  [[nodiscard]] bool exists(FileId file) const;
  /// Size in bytes from fstat. Throws Error(input) when the file is missing, Error(refused) when it is
  /// no regular file, Error(io) when it cannot be opened.
  [[nodiscard]] std::uint64_t size(FileId file) const;
  /// pread until full; retries EINTR; a short file is Error(input), anything else Error(io). Thread-safe.
  void read_at(FileId file, std::uint64_t offset, MutableBytes out) const;
  /// Throws Error(io) "changed while being read" when (dev, ino, size, mtime) of any file that was opened
  /// is no longer what it was at its first opening.
  void check_unchanged() const;
  /// The files read through a symbolic link, for a note.
  [[nodiscard]] std::vector<FileId> symlinked() const;
  /// A view of one file as a Source; the FileSet must outlive it.
  [[nodiscard]] std::unique_ptr<Source> source(FileId file) const;
  [[nodiscard]] const std::string& root() const;
  /// The root and the other directories.
  [[nodiscard]] std::vector<std::string> directories() const;
  /// Names of the regular files directly in the directories, sorted, each once.
  [[nodiscard]] std::vector<std::string> list() const;

  /// From here on this rank's files count alone, and it may make other calls than the others.
  void end_sharing();
  /// Whether each rank has a file that was looked at while sharing; empty when none has, or nothing was shared.
  [[nodiscard]] const std::vector<bool>& holders(FileId file) const;

 private:
  [[nodiscard]] std::optional<std::uint64_t> size_here(FileId file) const;
  [[nodiscard]] const SharedFiles::Found& found_by_all(FileId file) const;
  void read_here(FileId file, std::uint64_t offset, MutableBytes out) const;
  [[nodiscard]] std::vector<std::string> names_here() const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fsdpckpt
