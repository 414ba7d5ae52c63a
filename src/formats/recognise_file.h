// What a file is that is no torch file, found by its content: said in plain words, with what to do about it.
#pragma once

#include <fsdpckpt/error.h>

#include <optional>
#include <string>

#include "io/file_set.h"

namespace fsdpckpt {

/// Throws when the file does not start like a zip archive: Error(input) that says what it is as far as that is known
/// (empty, a Git LFS pointer, a compressed file, a plain pickle ...), Error(refused) when it is two formats at once
/// (rule Z12). `path` is how the user knows it. Reads the two ends of the file; throws as FileSet::read_at.
void require_archive(const FileSet& files, FileId file, const std::string& path);

/// An Error for what spoils any file, such as zeros, a Git LFS pointer, a web page or compression: for a file of a
/// sharded checkpoint, which is no torch file anyway. Nothing for others. Reads and throws as require_archive().
std::optional<Error> spoiled_file(const FileSet& files, FileId file, const std::string& path);

/// True when the archive's first member has a name that torch.save gives to none: an error in it is better told by
/// that.
bool is_foreign_archive(const FileSet& files, FileId file);

}  // namespace fsdpckpt
