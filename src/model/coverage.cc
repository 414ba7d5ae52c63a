#include "model/coverage.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "model/corners.h"

namespace fsdpckpt {
namespace {

using Boxes = std::vector<Chunk>;
using Group = std::vector<std::uint32_t>;  // indices into Boxes

std::int64_t begin_of(const Chunk& chunk, std::size_t dim) { return chunk.offsets[dim]; }
std::int64_t end_of(const Chunk& chunk, std::size_t dim) { return chunk.offsets[dim] + chunk.sizes[dim]; }

/// Negative numbers were refused by the reader; sums are checked here without overflow.
bool is_inside(const Chunk& chunk, std::span<const std::int64_t> shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (chunk.sizes[dim] > shape[dim] || chunk.offsets[dim] > shape[dim] - chunk.sizes[dim]) return false;
  }
  return true;
}

CoverageProblem problem_of(CoverageProblem::Kind kind, const Chunk& chunk) {
  return {kind, {chunk.offsets.begin(), chunk.offsets.end()}, {chunk.sizes.begin(), chunk.sizes.end()}};
}

/// For boxes with too many corners. Sweeps one dimension after the other: cuts the group at every border along `dim`,
/// and judges each slab in the remaining dimensions. `low` and `high` collect the slab's borders, so that a problem
/// found is a box.
class Sweep {
 public:
  Sweep(const Boxes& boxes, std::span<const std::int64_t> shape)
      : boxes_(boxes), shape_(shape), low_(shape.size()), high_(shape.size()) {}

  /// The first gap or overlap; true when there is none.
  bool run(Group group, std::size_t dim, std::vector<CoverageProblem>& problems) {
    if (dim == shape_.size()) return judge_cell(group, problems);
    std::ranges::sort(group, {}, [&](std::uint32_t box) { return begin_of(boxes_[box], dim); });
    if (same_extent(group, dim)) return run_slab(group, dim, 0, shape_[dim], problems);
    return run_slabs(group, dim, problems);
  }

 private:
  bool judge_cell(const Group& group, std::vector<CoverageProblem>& problems) {
    if (group.size() == 1) return true;
    CoverageProblem problem{group.empty() ? CoverageProblem::Kind::gap : CoverageProblem::Kind::overlap, low_, low_};
    for (std::size_t dim = 0; dim < shape_.size(); ++dim) problem.sizes[dim] = high_[dim] - low_[dim];
    problems.push_back(std::move(problem));
    return false;
  }

  /// True when every box of the group spans the whole dimension: nothing to cut.
  bool same_extent(const Group& group, std::size_t dim) const {
    return std::ranges::all_of(group, [&](std::uint32_t box) {
      return boxes_[box].offsets[dim] == 0 && boxes_[box].sizes[dim] == shape_[dim];
    });
  }

  bool run_slab(const Group& group, std::size_t dim, std::int64_t low, std::int64_t high,
                std::vector<CoverageProblem>& problems) {
    low_[dim] = low;
    high_[dim] = high;
    return run(group, dim + 1, problems);
  }

  bool run_slabs(const Group& group, std::size_t dim, std::vector<CoverageProblem>& problems) {
    Group active;
    std::size_t next = 0;
    for (std::int64_t at = 0; at < shape_[dim];) {
      std::erase_if(active, [&](std::uint32_t box) { return end_of(boxes_[box], dim) <= at; });
      while (next < group.size() && begin_of(boxes_[group[next]], dim) <= at) active.push_back(group[next++]);
      std::int64_t border = next < group.size() ? begin_of(boxes_[group[next]], dim) : shape_[dim];
      for (const std::uint32_t box : active) border = std::min(border, end_of(boxes_[box], dim));
      if (!run_slab(active, dim, at, border, problems)) return false;
      at = border;
    }
    return true;
  }

  const Boxes& boxes_;
  std::span<const std::int64_t> shape_;
  std::vector<std::int64_t> low_, high_;
};

/// The box around the point where a gap or overlap starts, up to the next border of the chunks there.
CoverageProblem problem_at(const Boxes& boxes, std::span<const std::int64_t> shape, const CornerVerdict& verdict) {
  using Kind = CoverageProblem::Kind;
  CoverageProblem problem{verdict.kind == CornerVerdict::Kind::gap ? Kind::gap : Kind::overlap, verdict.point, {}};
  std::vector<const Chunk*> around;
  for (const Chunk& box : boxes) around.push_back(&box);
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t low = verdict.point[dim];
    std::int64_t high = shape[dim];
    for (const Chunk* box : around) {
      if (begin_of(*box, dim) > low) high = std::min(high, begin_of(*box, dim));
      if (end_of(*box, dim) > low) high = std::min(high, end_of(*box, dim));
    }
    std::erase_if(around, [&](const Chunk* box) { return begin_of(*box, dim) > low || end_of(*box, dim) <= low; });
    problem.sizes.push_back(high - low);
  }
  return problem;
}

void find_problem(const Boxes& boxes, std::span<const std::int64_t> shape, std::vector<CoverageProblem>& problems) {
  if (const auto verdict = judge_corners(boxes, shape)) {
    if (verdict->kind != CornerVerdict::Kind::tiles) problems.push_back(problem_at(boxes, shape, *verdict));
    return;
  }
  Group group(boxes.size());
  std::iota(group.begin(), group.end(), 0U);
  Sweep(boxes, shape).run(std::move(group), 0, problems);
}

/// Sorts the chunks by their first element and takes replicas of one box together.
void take_together(const std::vector<std::uint64_t>& numbers, const Boxes& boxes, Coverage& coverage, Boxes& kept) {
  std::vector<std::uint32_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return box_before(boxes[a], boxes[b]); };
  if (!std::ranges::is_sorted(order, less)) std::ranges::stable_sort(order, less);
  for (const std::uint32_t i : order) {
    if (!kept.empty() && same_box(kept.back(), boxes[i])) {
      coverage.replicas.push_back(numbers[i]);
      coverage.replica_ends.back() = static_cast<std::uint32_t>(coverage.replicas.size());
      continue;
    }
    kept.push_back(boxes[i]);
    coverage.chunks.push_back(numbers[i]);
    coverage.replica_ends.push_back(static_cast<std::uint32_t>(coverage.replicas.size()));
  }
}

}  // namespace

bool is_empty(const Chunk& chunk) {
  return std::ranges::any_of(chunk.sizes, [](std::int64_t size) { return size == 0; });
}

bool same_box(const Chunk& a, const Chunk& b) {
  return std::ranges::equal(a.offsets, b.offsets) && std::ranges::equal(a.sizes, b.sizes);
}

bool box_before(const Chunk& a, const Chunk& b) {
  const auto offsets =
      std::lexicographical_compare_three_way(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end());
  if (offsets != 0) return offsets < 0;
  return std::ranges::lexicographical_compare(a.sizes, b.sizes);
}

Coverage cover(const Index& index, EntryId entry) {
  const Entry tensor = index.entry(entry);
  Coverage coverage;
  std::vector<std::uint64_t> numbers;
  Boxes boxes;
  for (std::uint64_t i = 0; i < tensor.chunk_count; ++i) {
    const Chunk chunk = index.chunk(entry, i);
    if (!is_inside(chunk, tensor.shape)) {
      coverage.problems.push_back(problem_of(CoverageProblem::Kind::outside, chunk));
      return coverage;
    }
    if (is_empty(chunk)) continue;
    numbers.push_back(i);
    boxes.push_back(chunk);
  }
  Boxes kept;
  take_together(numbers, boxes, coverage, kept);
  if (element_count(tensor) == 0) return coverage;
  find_problem(kept, tensor.shape, coverage.problems);
  return coverage;
}

std::string describe(const CoverageProblem& problem, const Entry& entry) {
  std::string box = box_text(problem.offsets, problem.sizes);
  switch (problem.kind) {
    case CoverageProblem::Kind::gap:
      return cat("elements ", box, " are in no chunk");
    case CoverageProblem::Kind::overlap:
      return cat("elements ", box, " are in more than one chunk");
    case CoverageProblem::Kind::outside:
      return cat("chunk ", box, " lies outside the tensor's shape ", shape_text(entry.shape));
  }
  return box;
}

}  // namespace fsdpckpt
