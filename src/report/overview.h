// What a checkpoint amounts to, counted once for text and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

struct Overview {
  struct PerDType {
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0;
  };
  std::string format;  ///< "Lightning Fabric; DCP as written by torch 2.9 to 2.14"
  std::uint64_t tensors = 0, objects = 0, elements = 0, bytes = 0, chunks = 0;
  std::uint64_t file_bytes = 0, data_files = 0, ranks = 0;
  std::array<PerDType, kDTypeCount> per_dtype{};
  std::vector<EntryId> order;  ///< entries selected, in the order of the state dict
};

/// Counts the entries for which `selected` holds.
Overview overview_of(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected);

/// "2 x dim 0", "4 x dims 0, 1", "1", "3 replicas": how a tensor is cut.
std::string chunks_text(const Checkpoint::Data& checkpoint, EntryId entry);

/// Bytes that an object entry takes in its file: an item's length; 0 for a part of a larger document.
std::uint64_t object_size(const Checkpoint::Data& checkpoint, EntryId entry);

}  // namespace fsdpckpt
