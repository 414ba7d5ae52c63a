// Joins the metadata of all ranks into one index. Usually there is one .metadata for all; rank-local metadata
// (torch 2.9 and later, use_collectives=False) holds only its rank's chunks, and every rank's copies of what is
// replicated.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "formats/dcp_folder.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// One metadata file, read.
struct RankMetadata {
  Index index;
  WriterFacts facts;
  std::uint64_t unlisted_items = 0;
  struct Path {
    EntryId entry;
    std::vector<Key> keys;
  };
  std::vector<Path> paths;        ///< in planner_data order
  std::deque<std::string> texts;  ///< what the keys point to

  void add_path(EntryId entry, const std::vector<Key>& keys);
};

/// Moves the ranks' indexes and paths into `data`. Entries of one name must agree in kind, dtype and shape:
/// Error(input) otherwise. Returns the number of stored items that belong to no listed chunk.
std::uint64_t merge_ranks(std::vector<RankMetadata> ranks, Checkpoint::Data& data);

}  // namespace fsdpckpt
