// The local header of a record, checked against its directory entry: one archive, one truth.
#pragma once

#include <cstdint>

#include "io/source.h"
#include "zip/central_entry.h"

namespace fsdpckpt::zip {

/// Where a record's bytes lie.
struct RecordPlace {
  std::uint64_t data = 0;  ///< offset of the payload
  std::uint64_t end = 0;   ///< offset behind the payload and its descriptor, if it has one
};

/// Reads the local header of `entry` and checks that it says the same and that header, payload and descriptor end
/// at or before `limit`, the start of the directory. Sizes and CRC may each be 0 when a descriptor follows (torch and
/// streaming writers); then the descriptor must say the same as `entry`. Throws Error(input) naming the record.
RecordPlace check_local_header(const Source& source, const CentralEntry& entry, std::uint64_t limit);

}  // namespace fsdpckpt::zip
