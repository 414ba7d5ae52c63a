// What a directory is that is no sharded checkpoint: said in plain words, with what to do about it.
#pragma once

#include <string>

#include "io/file_set.h"

namespace fsdpckpt {

/// Throws Error(input) for a directory without metadata: an unfinished save, the parent of checkpoints, files that each
/// rank saved for itself, another program's format ... `files` are the directory's.
[[noreturn]] void throw_no_checkpoint(const std::string& directory, const FileSet& files);

/// True when the directory can be read and holds the metadata of a sharded checkpoint.
bool holds_dcp(const std::string& directory);

}  // namespace fsdpckpt
