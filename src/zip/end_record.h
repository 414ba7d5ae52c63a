// The end of a zip archive: the end record and, where there is one, the zip64 end record. Says where the central
// directory lies; does not read it.
#pragma once

#include <cstdint>

#include "io/source.h"

namespace fsdpckpt::zip {

struct EndRecord {
  std::uint64_t count = 0;             ///< of records
  std::uint64_t directory_offset = 0;  ///< of the central directory
  std::uint64_t directory_size = 0;    ///< in bytes; it ends where the end records start
};

/// Reads the end records, which must close `source` without a comment and without anything between them and the
/// directory. Throws Error(input) with the byte offset when they are absent, contradict each other or leave the source.
EndRecord read_end_record(const Source& source);

}  // namespace fsdpckpt::zip
