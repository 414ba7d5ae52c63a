// The dicts and lists of a state dict with what lies below each: what takes the space.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/overview.h"

namespace fsdpckpt {

struct TreeRow {
  std::size_t depth = 0;  ///< 0: a top-level key
  std::string name;       ///< the key, or "[2]" for a position in a list
  Totals totals;          ///< of the selected entries below it
};

/// One row a dict or list that holds a selected entry, top down, in the order of the state dict. The entries themselves
/// have no rows.
std::vector<TreeRow> tree_totals(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected);

}  // namespace fsdpckpt
