// The last steps of a commit: a finished temporary takes its final name, and the folder is synced.
#pragma once

#include <string>

namespace fsdpckpt {

/// The folder that holds `path`, as the system calls take it ("." for a bare name).
std::string folder_of(const std::string& path);

/// Renames the file `from` to `to`, on the same file system. Unless `replace`, an existing `to` is
/// Error(refused), with no instant in which another program's new file could be overwritten.
void rename_into_place(const std::string& from, const std::string& to, bool replace);

/// The same without replacing, for file systems that lack RENAME_NOREPLACE: link(), then unlink().
void link_into_place(const std::string& from, const std::string& to);

/// Makes the names in `folder` durable. File systems that cannot sync a folder (EINVAL) are taken as they are.
void sync_folder(const std::string& folder);

}  // namespace fsdpckpt
