// One entry of the central directory, decoded and checked on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace fsdpckpt::zip {

struct CentralEntry {
  std::string_view name;     ///< points into the directory
  std::uint64_t header = 0;  ///< offset of the local header
  std::uint64_t size = 0;    ///< of the payload, bytes
  std::uint32_t crc = 0;
  std::uint16_t flags = 0;
  std::size_t length = 0;  ///< of this entry in the directory
};

/// The entry at `at` of `directory`, whose first byte is at `directory_offset` of the archive.
/// Throws Error(input) when it leaves the directory, is not a plain stored record, or lacks a zip64 value.
CentralEntry read_central_entry(Bytes directory, std::size_t at, std::uint64_t directory_offset);

}  // namespace fsdpckpt::zip
