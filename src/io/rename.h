// The last steps of a commit: a finished temporary takes its final name, and the folder is synced.
#pragma once

#include <string>

#include "io/file_system.h"

namespace fsdpckpt {

/// The folder that holds `path`, as the system calls take it ("." for a bare name).
std::string folder_of(const std::string& path);

/// Renames the file `from` to `to`, on the same file system. Unless `replace`, an existing `to` is
/// Error(refused), with no instant in which another program's new file could be overwritten.
/// File systems that lack RENAME_NOREPLACE are given link(), then unlink(). Error(io) when that fails too, and when
/// `from` could not be removed: then `to` is complete, and the text says so.
void rename_into_place(const std::string& from, const std::string& to, bool replace, FileSystem& files = disk());

/// Makes the name `path` in its folder durable. Error(io) says that the file is complete all the same.
/// File systems that cannot sync a folder (EINVAL) are taken as they are.
void sync_name_of(const std::string& path, FileSystem& files = disk());

}  // namespace fsdpckpt
