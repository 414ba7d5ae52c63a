#include "formats/optimizer_repair.h"

#include <algorithm>

#include "base/text.h"
#include "formats/document.h"

namespace fsdpckpt {
namespace {

using Node = StateTree::Node;
using pickle::Kind;
using pickle::NodeId;
using pickle::Values;

bool is_list_of_integers(const Values& values, NodeId list) {
  if (list == pickle::kNoNode || values.kind(list) != Kind::list || values.items(list).empty()) return false;
  return std::ranges::all_of(values.items(list), [&](NodeId item) { return values.kind(item) == Kind::integer; });
}

/// param_groups as one object (torch 2.0 to 2.3): a list of dicts.
bool groups_use_ids(const Values& values, NodeId groups) {
  if (values.kind(groups) != Kind::list) return false;
  return std::ranges::any_of(values.items(groups),
                             [&](NodeId group) { return is_list_of_integers(values, values.find(group, "params")); });
}

/// True when the optimizer names its parameters by number: `params` holds integers.
bool uses_ids(const Checkpoint::Data& checkpoint, Node param_groups) {
  const StateTree& tree = checkpoint.tree;
  if (tree.kind(param_groups) == StateTree::Kind::entry) {
    const DocumentPart part = read_object(checkpoint, tree.entry(param_groups));
    return groups_use_ids(part.document->values, part.node);
  }
  for (const StateTree::Child& group : tree.children(param_groups)) {
    const Node params =
        tree.kind(group.node) == StateTree::Kind::dict ? tree.child(group.node, "params") : StateTree::kNowhere;
    if (params == StateTree::kNowhere || tree.kind(params) != StateTree::Kind::entry) continue;
    if (checkpoint.index.entry(tree.entry(params)).kind != EntryKind::object) continue;
    const DocumentPart part = read_object(checkpoint, tree.entry(params));
    if (is_list_of_integers(part.document->values, part.node)) return true;
  }
  return false;
}

class Repair {
 public:
  Repair(Checkpoint::Data& checkpoint, const Selection& selection) : checkpoint_(checkpoint), selection_(selection) {}

  std::vector<std::string> run() {
    visit(StateTree::kRoot, "");
    return std::move(notes_);
  }

 private:
  void visit(Node node, const std::string& path) {
    if (node >= selection_.nodes.size() || !selection_.nodes[node]) return;
    if (checkpoint_.tree.kind(node) == StateTree::Kind::dict) repair(node, path);
    const auto children = checkpoint_.tree.children(node);
    for (const StateTree::Child& child : children) {
      const std::string key = child.key.is_number ? std::to_string(child.key.number) : std::string(child.key.text);
      visit(child.node, path.empty() ? key : cat(path, ".", key));
    }
  }

  void repair(Node optimizer, const std::string& path) {
    StateTree& tree = checkpoint_.tree;
    const Node groups = tree.child(optimizer, "param_groups");
    if (groups == StateTree::kNowhere || !selection_.nodes[groups] || !is_groups(groups)) return;
    const Node state = tree.child(optimizer, "state");
    if (state == StateTree::kNowhere) {
      tree.insert_empty_dict(optimizer, "state", "param_groups");
      notes_.push_back(cat(quote(path), " has no state: the empty dict that DCP dropped is written again"));
    } else if (tree.kind(state) == StateTree::Kind::dict && uses_ids(checkpoint_, groups)) {
      tree.number_keys(state);
      notes_.push_back(cat(quote(path), " names its parameters by number: the keys of its state are integers again"));
    }
  }

  /// A list of groups, or one object that holds them; a tensor under that name is somebody else's.
  bool is_groups(Node groups) const {
    const StateTree& tree = checkpoint_.tree;
    if (tree.kind(groups) == StateTree::Kind::list) return true;
    return tree.kind(groups) == StateTree::Kind::entry &&
           checkpoint_.index.entry(tree.entry(groups)).kind == EntryKind::object;
  }

  Checkpoint::Data& checkpoint_;
  const Selection& selection_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> repair_optimizers(Checkpoint::Data& checkpoint, Selection& selection) {
  std::vector<std::string> notes = Repair(checkpoint, selection).run();
  selection.nodes.resize(checkpoint.tree.node_count(), true);  // the dicts added here
  return notes;
}

}  // namespace fsdpckpt
