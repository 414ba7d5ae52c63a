#include "report/tree_paths.h"

#include <algorithm>

namespace fsdpckpt {

TreePaths::TreePaths(const StateTree& tree) : places_(tree.node_count()) {
  std::vector<StateTree::Node> waiting = {StateTree::kRoot};
  while (!waiting.empty()) {
    const StateTree::Node node = waiting.back();
    waiting.pop_back();
    if (tree.kind(node) == StateTree::Kind::entry) {
      nodes_.resize(std::max<std::size_t>(nodes_.size(), tree.entry(node) + 1ULL), StateTree::kRoot);
      nodes_[tree.entry(node)] = node;
    }
    for (const StateTree::Child& child : tree.children(node)) {
      places_[child.node] = {node, child.key};
      waiting.push_back(child.node);
    }
  }
}

std::vector<Key> TreePaths::path(EntryId entry) const {
  std::vector<Key> keys;
  for (StateTree::Node node = nodes_.at(entry); node != StateTree::kRoot; node = places_[node].parent)
    keys.push_back(places_[node].key);
  std::ranges::reverse(keys);
  return keys;
}

}  // namespace fsdpckpt
