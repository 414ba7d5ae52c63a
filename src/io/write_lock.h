// Which file systems let only one thread at a time write to a file.
#pragma once

namespace fsdpckpt {

/// True when the file system of an open file is known to hold a lock on it during every write through the page cache:
/// further writers then wait, mostly spinning. False for parallel file systems, and when it is not known.
bool locks_file_for_writing(int descriptor);

}  // namespace fsdpckpt
