// Where each entry stands in the state dict.
#pragma once

#include <vector>

#include "model/state_tree.h"

namespace fsdpckpt {

class TreePaths {
 public:
  /// The tree must outlive it.
  explicit TreePaths(const StateTree& tree);
  /// The keys from the top down.
  [[nodiscard]] std::vector<Key> path(EntryId entry) const;

 private:
  struct Place {
    StateTree::Node parent = StateTree::kRoot;
    Key key;
  };
  std::vector<Place> places_;           ///< by node
  std::vector<StateTree::Node> nodes_;  ///< by entry
};

}  // namespace fsdpckpt
