// pwrite and pread until all is done, through the door to the disk.
#pragma once

#include <cstdint>
#include <string>

#include "io/file_system.h"

namespace fsdpckpt {

/// Throws Error(io) naming `target`.
void write_all(FileSystem& files, int descriptor, std::uint64_t offset, Bytes bytes, const std::string& target);

/// Reads what was written before; likewise, and Error(input) when the file ends early.
void read_all(FileSystem& files, int descriptor, std::uint64_t offset, MutableBytes out, const std::string& target);

}  // namespace fsdpckpt
