#include "report/overview.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/checked.h"
#include "base/text.h"
#include "frameworks/recognise.h"

namespace fsdpckpt {
namespace {

void collect(const StateTree& tree, StateTree::Node node, const std::vector<bool>& selected,
             std::vector<EntryId>& order) {
  if (tree.kind(node) == StateTree::Kind::entry && selected[tree.entry(node)]) order.push_back(tree.entry(node));
  for (const StateTree::Child& child : tree.children(node)) collect(tree, child.node, selected, order);
}

/// Flattened by torch's flatten_optimizer_state_dict, or by torchtitan.
bool has_flat_keys(const StateTree& tree, StateTree::Node node) {
  const auto is_flat = [&](const StateTree::Child& child) {
    return tree.kind(child.node) == StateTree::Kind::entry &&
           (child.key.text.starts_with("state.") || child.key.text.starts_with("param_groups."));
  };
  return std::ranges::any_of(tree.children(node), is_flat);
}

void add_parts(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected, Overview& overview) {
  Part top{.is_top = true};
  const StateTree& tree = checkpoint.tree;
  for (const StateTree::Child& child : tree.children(StateTree::kRoot)) {
    std::vector<EntryId> entries;
    collect(tree, child.node, selected, entries);
    const bool is_leaf = tree.kind(child.node) == StateTree::Kind::entry;
    Part part{.name = child.key.is_number ? std::to_string(child.key.number) : std::string(child.key.text),
              .has_flat_keys = has_flat_keys(tree, child.node)};
    for (const EntryId id : entries) count(checkpoint.index.entry(id), is_leaf ? top.totals : part.totals);
    if (!is_leaf && !entries.empty()) overview.parts.push_back(std::move(part));
    overview.order.insert(overview.order.end(), entries.begin(), entries.end());
  }
  if (top.totals.tensors + top.totals.objects > 0) overview.parts.push_back(std::move(top));
}

/// The rank in "__R_N.distcp", or -1.
int rank_of_file(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  int rank = -1;
  if (path.starts_with("__") && path.ends_with(".distcp")) std::from_chars(path.begin() + 2, path.end(), rank);
  return rank;
}

void count_files(const Checkpoint::Data& checkpoint, Overview& overview) {
  std::set<int> ranks;
  for (const SourceFile& file : checkpoint.files) {
    overview.file_bytes += file.size;
    if (!file.path.ends_with(".distcp")) continue;
    ++overview.rank_files;
    ranks.insert(rank_of_file(file.path));
  }
  overview.ranks = ranks.size();
}

void count_entries(const Checkpoint::Data& checkpoint, Overview& overview) {
  for (const EntryId id : overview.order) {
    const Entry entry = checkpoint.index.entry(id);
    count(entry, overview.totals);
    if (entry.kind == EntryKind::object) continue;
    overview.chunks += entry.chunk_count;
    Overview::PerDType& per_dtype = overview.per_dtype[static_cast<std::size_t>(entry.dtype)];
    ++per_dtype.tensors;
    per_dtype.bytes += byte_count(entry);
  }
}

}  // namespace

void count(const Entry& entry, Totals& totals) {
  if (entry.kind == EntryKind::object) {
    ++totals.objects;
    return;
  }
  ++totals.tensors;
  try {
    totals.elements = checked_add(totals.elements, element_count(entry), "the number of elements");
    totals.bytes = checked_add(totals.bytes, byte_count(entry), "the size of the tensors");
  } catch (Error& error) {
    throw error.in_entry(std::string(entry.name));
  }
}

Overview overview_of(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected) {
  Overview overview{.framework = std::string(framework_of(checkpoint))};
  overview.format = overview.framework;
  if (!overview.format.empty() && !checkpoint.writer.empty()) overview.format += "; ";
  overview.format += checkpoint.writer;
  try {
    add_parts(checkpoint, selected, overview);
    count_entries(checkpoint, overview);
  } catch (Error& error) {
    throw error.in_path(checkpoint.root);
  }
  count_files(checkpoint, overview);
  return overview;
}

}  // namespace fsdpckpt
