#include "formats/parameter_lists.h"

#include <algorithm>

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::NodeId;
using pickle::Values;

bool is_list_of_texts(const Values& values, NodeId node) {
  return node != pickle::kNoNode && values.kind(node) == Kind::list &&
         std::ranges::all_of(values.items(node), [&](NodeId item) { return values.kind(item) == Kind::text; });
}

}  // namespace

std::vector<NodeId> parameter_lists(const Values& values, NodeId root) {
  if (values.kind(root) != Kind::list) return {};
  if (is_list_of_texts(values, root)) return {root};
  std::vector<NodeId> lists;
  for (const NodeId group : values.items(root)) {
    const NodeId params = values.kind(group) == Kind::dict ? values.find(group, "params") : pickle::kNoNode;
    if (is_list_of_texts(values, params)) lists.push_back(params);
  }
  return lists;
}

}  // namespace fsdpckpt
