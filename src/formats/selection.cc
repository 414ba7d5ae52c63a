#include "formats/selection.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fsdpckpt {
namespace {

using Node = StateTree::Node;

[[noreturn]] void throw_no_match(const Checkpoint::Data& checkpoint, const std::string& pattern) {
  std::vector<std::string_view> names;
  for (EntryId id = 0; id < checkpoint.index.entry_count(); ++id) names.push_back(checkpoint.index.entry(id).name);
  const std::string_view near = nearest(pattern, names);
  throw Error(ErrorKind::usage, cat("the pattern ", quote(pattern), " matches no entry"), {.path = checkpoint.root},
              near.empty() ? cat("fsdpckpt inspect --keys ", shell_word(checkpoint.root))
                           : cat("the nearest entry is ", quote(near)));
}

/// Which entries a pattern matches; at least one.
std::vector<bool> matches(const Checkpoint::Data& checkpoint, const std::string& pattern) {
  std::vector<bool> hits(checkpoint.index.entry_count());
  bool any = false;
  for (EntryId id = 0; id < hits.size(); ++id) {
    hits[id] = glob_match(pattern, checkpoint.index.entry(id).name);
    any |= hits[id];
  }
  if (!any) throw_no_match(checkpoint, pattern);
  return hits;
}

void select_below(const StateTree& tree, Node node, std::vector<bool>& entries) {
  if (tree.kind(node) == StateTree::Kind::entry) entries[tree.entry(node)] = true;
  for (const StateTree::Child& child : tree.children(node)) select_below(tree, child.node, entries);
}

/// The dicts named model or state_dict at the smallest depth.
std::vector<Node> model_dicts(const StateTree& tree) {
  std::vector<Node> level = {StateTree::kRoot};
  while (!level.empty()) {
    std::vector<Node> found, next;
    for (const Node node : level) {
      for (const StateTree::Child& child : tree.children(node)) {
        if (tree.kind(child.node) != StateTree::Kind::dict) continue;
        const bool is_model = !child.key.is_number && (child.key.text == "model" || child.key.text == "state_dict");
        (is_model ? found : next).push_back(child.node);
      }
    }
    if (!found.empty()) return found;
    level = std::move(next);
  }
  return {};
}

/// Top-level names that torchtitan keeps beside the model's own (torchtitan/components/checkpoint.py).
bool is_training_state(std::string_view top) {
  constexpr std::array<std::string_view, 4> kNames = {"lr_scheduler", "dataloader", "train_state", "lr_schedulers"};
  return top.starts_with("optim") || std::ranges::find(kNames, top) != kNames.end();
}

bool mark_node(const StateTree& tree, Node node, Selection& selection) {
  bool marked = tree.kind(node) == StateTree::Kind::entry && selection.entries[tree.entry(node)];
  for (const StateTree::Child& child : tree.children(node)) marked |= mark_node(tree, child.node, selection);
  selection.nodes[node] = marked;
  return marked;
}

}  // namespace

std::vector<bool> model_entries(const Checkpoint::Data& checkpoint) {
  std::vector<bool> entries(checkpoint.index.entry_count());
  const std::vector<Node> models = model_dicts(checkpoint.tree);
  for (const Node model : models) select_below(checkpoint.tree, model, entries);
  if (models.empty()) {
    for (const StateTree::Child& child : checkpoint.tree.children(StateTree::kRoot)) {
      if (!is_training_state(child.key.text)) select_below(checkpoint.tree, child.node, entries);
    }
    for (EntryId id = 0; id < entries.size(); ++id) {
      if (checkpoint.index.entry(id).kind != EntryKind::tensor) entries[id] = false;
    }
  }
  return entries;
}

void mark_nodes(const StateTree& tree, Selection& selection) {
  selection.nodes.assign(tree.node_count(), false);
  mark_node(tree, StateTree::kRoot, selection);
}

Selection select(const Checkpoint::Data& checkpoint, const SelectionRules& rules) {
  const std::size_t count = checkpoint.index.entry_count();
  Selection selection{.entries = std::vector<bool>(count, rules.keep.empty()), .nodes = {}};
  for (const std::string& pattern : rules.keep) {
    const std::vector<bool> hits = matches(checkpoint, pattern);
    for (EntryId id = 0; id < count; ++id) selection.entries[id] = selection.entries[id] || hits[id];
  }
  for (const std::string& pattern : rules.exclude) {
    const std::vector<bool> hits = matches(checkpoint, pattern);
    for (EntryId id = 0; id < count; ++id) selection.entries[id] = selection.entries[id] && !hits[id];
  }
  if (rules.model_only) {
    const std::vector<bool> model = model_entries(checkpoint);
    if (std::ranges::find(model, true) == model.end()) {
      throw Error(ErrorKind::usage, "there is no model in the checkpoint, so --model-only leaves nothing",
                  {.path = checkpoint.root});
    }
    for (EntryId id = 0; id < count; ++id) selection.entries[id] = selection.entries[id] && model[id];
  }
  if (count > 0 && std::ranges::find(selection.entries, true) == selection.entries.end()) {
    throw Error(ErrorKind::usage, "the patterns leave no entry", {.path = checkpoint.root});
  }
  mark_nodes(checkpoint.tree, selection);
  return selection;
}

}  // namespace fsdpckpt
