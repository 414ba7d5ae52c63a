// Opening a file that a checkpoint names, confined to the checkpoint's directory: the one place that decides
// what such a name may lead to. A regular file, or a symbolic link in the directory that ends at one (model caches
// are made of them); never a device, FIFO, socket or directory, and never through a linked directory.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/descriptor.h"

namespace fsdpckpt {

/// What must stay the same while a file is being read.
struct FileIdentity {
  explicit FileIdentity(const struct stat& status);
  bool operator==(const FileIdentity&) const = default;

  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t modified_s;
  std::int64_t modified_ns;
};

/// A directory and a path in it, with the text of both together for messages.
struct ConfinedPath {
  int directory;
  const std::string& relative;
  std::string shown;
};

struct ConfinedStatus {
  FileIdentity identity;
  bool symlinked;
};

struct ConfinedFile {
  Descriptor descriptor;
  FileIdentity identity;
  bool symlinked;
};

/// Throws Error(refused) when `relative` is empty, absolute, holds NUL or has a `..` component.
void check_confined(const std::string& root, const std::string& relative);

/// Nothing when no file is there (or a link leads nowhere); Error(refused) when it is none that may be read.
std::optional<ConfinedStatus> find_confined(const ConfinedPath& path);

/// Opens for reading. Throws Error(input) when the file is missing, Error(refused) as find_confined, Error(io).
ConfinedFile open_confined(const ConfinedPath& path);

/// Names of the regular files, and of the links to some, directly in `directory`, sorted. Throws Error(io).
std::vector<std::string> regular_files_in(int directory, const std::string& shown);

}  // namespace fsdpckpt
