// In which order entries are shown.
#pragma once

#include <cstdint>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

enum class SortBy : std::uint8_t {
  stored,  ///< as in the state dict
  name,    ///< byte by byte
  size,    ///< largest first
  dtype,   ///< by name; objects last
  shape,   ///< fewer dimensions first, then smaller ones; objects last
  chunks,  ///< most first
};

/// Bytes that an object entry takes in its file: an item's length; 0 for a part of a larger document.
std::uint64_t object_size(const Checkpoint::Data& checkpoint, EntryId entry);

/// Entries that compare equal keep their order.
void sort_entries(const Checkpoint::Data& checkpoint, SortBy by, std::vector<EntryId>& entries);

}  // namespace fsdpckpt
