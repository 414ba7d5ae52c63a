#include "report/chunks_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

using Boxes = std::vector<Chunk>;

Boxes filled_chunks(const Index& index, EntryId id, const Entry& entry) {
  const bool is_empty_tensor = std::ranges::find(entry.shape, 0) != entry.shape.end();
  Boxes boxes;
  for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
    const Chunk chunk = index.chunk(id, i);
    if (is_empty_tensor || !is_empty(chunk)) boxes.push_back(chunk);
  }
  return boxes;
}

/// The dimensions in which some chunk is not as long as the tensor.
std::vector<std::size_t> cut_dims(const Boxes& boxes, const Entry& entry) {
  std::vector<std::size_t> dims;
  for (std::size_t dim = 0; dim < entry.shape.size(); ++dim) {
    if (std::ranges::any_of(boxes, [&](const Chunk& box) { return box.sizes[dim] != entry.shape[dim]; }))
      dims.push_back(dim);
  }
  return dims;
}

/// Into how many intervals a dimension is cut; 0 when two that start together end apart.
std::size_t intervals_of(const Boxes& boxes, std::size_t dim) {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  for (const Chunk& box : boxes) intervals.emplace_back(box.offsets[dim], box.sizes[dim]);
  std::ranges::sort(intervals);
  intervals.erase(std::unique(intervals.begin(), intervals.end()), intervals.end());
  const auto starts_together = [](const auto& a, const auto& b) { return a.first == b.first; };
  return std::ranges::adjacent_find(intervals, starts_together) == intervals.end() ? intervals.size() : 0;
}

/// The usual case without a copy: slices of one dimension, one behind the other. Empty when it is not that.
std::string slices_text(const Index& index, EntryId id, const Entry& entry) {
  std::size_t cut = entry.shape.size();
  std::uint64_t count = 0;
  std::int64_t end = 0;
  for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
    const Chunk chunk = index.chunk(id, i);
    if (is_empty(chunk)) continue;
    for (std::size_t dim = 0; dim < chunk.sizes.size(); ++dim) {
      if (chunk.sizes[dim] == entry.shape[dim]) continue;
      if (cut != entry.shape.size() && cut != dim) return {};
      cut = dim;
    }
    if (cut == entry.shape.size() || chunk.offsets[cut] != end || chunk.sizes[cut] > entry.shape[cut] - end) return {};
    end += chunk.sizes[cut];
    ++count;
  }
  return count > 1 ? cat(count, " x dim ", cut) : "";
}

std::string grid_text(const Boxes& boxes, const std::vector<std::size_t>& dims) {
  std::size_t cells = 1;
  std::string text;
  for (const std::size_t dim : dims) {
    const std::size_t side = intervals_of(boxes, dim);
    cells *= side;
    text += cat(text.empty() ? "" : ", ", side, " x dim ", dim);
  }
  return cells == boxes.size() ? text : cat(boxes.size(), " irregular");
}

}  // namespace

std::string chunks_text(const Index& index, EntryId id) {
  const Entry entry = index.entry(id);
  if (entry.chunk_count == 1) return "1";
  if (std::string text = slices_text(index, id, entry); !text.empty()) return text;
  Boxes boxes = filled_chunks(index, id, entry);
  if (boxes.size() <= 1) return std::to_string(boxes.size());
  const std::size_t stored = boxes.size();
  if (!std::ranges::is_sorted(boxes, box_before)) std::ranges::sort(boxes, box_before);
  boxes.erase(std::unique(boxes.begin(), boxes.end(), same_box), boxes.end());
  const std::vector<std::size_t> dims = cut_dims(boxes, entry);
  if (boxes.size() == 1 && dims.empty()) return cat(stored, " replicas");
  return grid_text(boxes, dims) + (boxes.size() < stored ? ", replicated" : "");
}

}  // namespace fsdpckpt
