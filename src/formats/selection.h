// Which entries of a checkpoint an output gets: globs over FQNs, or the model alone.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

struct SelectionRules {
  std::vector<std::string> keep;     ///< globs; empty keeps all
  std::vector<std::string> exclude;  ///< globs
  bool model_only = false;
};

struct Selection {
  std::vector<bool> entries;  ///< by EntryId
  std::vector<bool> nodes;    ///< by tree node: something selected lies in it
};

/// Applies the rules. A glob that matches nothing is Error(usage) naming the nearest entries. The model alone is every
/// dict `model` or `state_dict` nearest to the root; without one, the tensors outside optimizers (torchtitan);
/// Error(usage) when nothing is left.
Selection select(const Checkpoint::Data& checkpoint, const SelectionRules& rules);

/// By EntryId: the entries that `model_only` keeps; all false when there is no model.
std::vector<bool> model_entries(const Checkpoint::Data& checkpoint);

/// Marks the tree nodes in which something selected lies.
void mark_nodes(const StateTree& tree, Selection& selection);

}  // namespace fsdpckpt
