// What a checkpoint amounts to, counted once for text and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Counts of some entries.
struct Totals {
  std::uint64_t tensors = 0, objects = 0;
  std::uint64_t elements = 0, bytes = 0;  ///< of the tensors
};

/// A top-level key of the state dict and what lies below it; all entries that stand at the top themselves are one part
/// without a name.
struct Part {
  std::string name;
  bool is_top = false;
  bool has_flat_keys = false;  ///< an optimizer in the form 'state.NAME.exp_avg', a dict of one level
  Totals totals;
};

struct Overview {
  struct PerDType {
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0;
  };
  std::string framework;  ///< "Lightning Fabric"; may be empty
  std::string format;     ///< framework and writer: "Lightning Fabric; DCP as written by torch 2.9 to 2.14"
  Totals totals;
  std::uint64_t chunks = 0;
  std::uint64_t file_bytes = 0, rank_files = 0, ranks = 0;
  std::array<PerDType, kDTypeCount> per_dtype{};
  std::vector<Part> parts;     ///< in order of appearance
  std::vector<EntryId> order;  ///< entries selected, in the order of the state dict
};

/// Counts the entries for which `selected` holds.
Overview overview_of(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected);

/// Adds one entry. Throws Error(input) naming it when a number leaves 64 bits.
void count(const Entry& entry, Totals& totals);

}  // namespace fsdpckpt
