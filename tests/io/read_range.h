// Bytes of a file of a set, as text.
#pragma once

#include <span>
#include <string>

#include "io/file_set.h"

namespace fsdpckpt {

inline std::string read_range(const FileSet& files, FileId file, std::uint64_t offset, std::size_t length) {
  std::string out(length, '\0');
  files.read_at(file, offset, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace fsdpckpt
