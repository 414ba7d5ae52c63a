#include "report/overview.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "frameworks/recognise.h"

namespace fsdpckpt {
namespace {

void collect(const StateTree& tree, StateTree::Node node, const std::vector<bool>& selected,
             std::vector<EntryId>& order) {
  if (tree.kind(node) == StateTree::Kind::entry && selected[tree.entry(node)]) order.push_back(tree.entry(node));
  for (const StateTree::Child& child : tree.children(node)) collect(tree, child.node, selected, order);
}

/// The rank in "__R_N.distcp", or -1.
int rank_of_file(std::string_view path) {
  if (!path.starts_with("__") || !path.ends_with(".distcp")) return -1;
  return std::atoi(std::string(path.substr(2)).c_str());
}

void count_files(const Checkpoint::Data& checkpoint, Overview& overview) {
  std::set<int> ranks;
  for (const SourceFile& file : checkpoint.files) {
    overview.file_bytes += file.size;
    if (!file.path.ends_with(".distcp")) continue;
    ++overview.data_files;
    ranks.insert(rank_of_file(file.path));
  }
  overview.ranks = ranks.size();
}

}  // namespace

Overview overview_of(const Checkpoint::Data& checkpoint, const std::vector<bool>& selected) {
  Overview overview{.format = std::string(framework_of(checkpoint))};
  if (!overview.format.empty() && !checkpoint.writer.empty()) overview.format += "; ";
  overview.format += checkpoint.writer;
  collect(checkpoint.tree, StateTree::kRoot, selected, overview.order);
  for (const EntryId id : overview.order) {
    const Entry entry = checkpoint.index.entry(id);
    if (entry.kind == EntryKind::object) {
      ++overview.objects;
      continue;
    }
    ++overview.tensors;
    overview.elements += element_count(entry);
    overview.bytes += byte_count(entry);
    overview.chunks += entry.chunk_count;
    Overview::PerDType& per_dtype = overview.per_dtype[static_cast<std::size_t>(entry.dtype)];
    ++per_dtype.tensors;
    per_dtype.bytes += byte_count(entry);
  }
  count_files(checkpoint, overview);
  return overview;
}

std::string chunks_text(const Checkpoint::Data& checkpoint, EntryId id) {
  const Entry entry = checkpoint.index.entry(id);
  if (entry.chunk_count == 1) return "1";
  std::uint64_t filled = 0;
  std::vector<bool> cut(entry.shape.size());
  for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
    const Chunk chunk = checkpoint.index.chunk(id, i);
    if (std::ranges::find(chunk.sizes, 0) != chunk.sizes.end() && element_count(entry) > 0) continue;
    ++filled;
    for (std::size_t dim = 0; dim < cut.size(); ++dim) cut[dim] = cut[dim] || chunk.sizes[dim] != entry.shape[dim];
  }
  std::string dims;
  for (std::size_t dim = 0; dim < cut.size(); ++dim) {
    if (cut[dim]) dims += cat(dims.empty() ? "" : ", ", dim);
  }
  if (dims.empty()) return filled <= 1 ? "1" : cat(filled, " replicas");
  return cat(filled, dims.size() > 1 ? " x dims " : " x dim ", dims);
}

std::uint64_t object_size(const Checkpoint::Data& checkpoint, EntryId entry) {
  if (checkpoint.parts.contains(entry)) return 0;
  const Chunk chunk = checkpoint.index.chunk(entry, 0);
  return chunk.is_stored ? chunk.extent.length : 0;
}

}  // namespace fsdpckpt
