// What a file is that is no torch file, found by its content: said in plain words, with what to do about it.
#pragma once

#include <fsdpckpt/error.h>

#include <optional>
#include <string>

#include "io/file_set.h"

namespace fsdpckpt {

/// An Error for a file that is known to be something else than torch.save's zip archive: empty, a Git LFS pointer, a
/// compressed file, a plain pickle ... Error(refused) when it is two formats at once (rule Z12). Nothing for archives
/// and for what nobody knows. `path` is how the user knows it. Reads the two ends of the
/// file. Throws as FileSet::read_at.
std::optional<Error> foreign_file(const FileSet& files, FileId file, const std::string& path);

/// The same for a file of a sharded checkpoint, which is no torch file anyway: only what spoils any file, such as
/// zeros, a Git LFS pointer, a web page or compression.
std::optional<Error> spoiled_file(const FileSet& files, FileId file, const std::string& path);

/// Throws Error(input) or Error(refused) when the file does not start like a zip archive.
void require_archive(const FileSet& files, FileId file, const std::string& path);

/// True when the archive's first member has a name that torch.save gives to none: an error in it is better told by
/// that.
bool is_foreign_archive(const FileSet& files, FileId file);

}  // namespace fsdpckpt
