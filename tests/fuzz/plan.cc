// Boxes made from any bytes, judged and cut into tiles, against a count of every element. The input starts with the
// kind of numbers (odd: eight bytes each, for the arithmetic at the limits of 64 bits; even: a byte each), the number
// of dimensions and the shape; then come boxes, offsets and sizes.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "fuzz/target.h"
#include "model/boxes.h"
#include "model/coverage.h"
#include "plan/pieces.h"

namespace fsdpckpt::fuzz {
namespace {

using Kind = CoverageProblem::Kind;

constexpr std::size_t kMostDims = 4, kMostBoxes = 12, kMostWideBoxes = 64;
constexpr std::int64_t kMostElements = 96;
constexpr std::uint64_t kMostTiles = 4;

struct Tensor {
  Numbers shape;
  std::vector<TestBox> boxes;
};

std::int64_t take_wide(Taker& from) { return static_cast<std::int64_t>(from.wide() >> 1); }

/// Numbers up to the limits of 64 bits; never negative, since the reader refuses those.
Tensor take_wide_tensor(Taker& from) {
  Tensor tensor{.shape = Numbers(from.byte() % (kMostDims + 1)), .boxes = {}};
  for (std::int64_t& size : tensor.shape) size = take_wide(from);
  while (!from.empty() && tensor.boxes.size() < kMostWideBoxes) {
    TestBox box{Numbers(tensor.shape.size()), Numbers(tensor.shape.size())};
    for (std::int64_t& offset : box.offsets) offset = take_wide(from);
    for (std::int64_t& size : box.sizes) size = take_wide(from);
    tensor.boxes.push_back(box);
  }
  return tensor;
}

/// A tensor of at most kMostElements, and boxes that mostly lie inside.
Tensor take_small_tensor(Taker& from) {
  Tensor tensor{.shape = Numbers(from.byte() % (kMostDims + 1)), .boxes = {}};
  std::int64_t elements = 1;
  for (std::int64_t& size : tensor.shape) {
    size = std::min<std::int64_t>(from.byte(), kMostElements / elements);
    elements *= std::max<std::int64_t>(size, 1);
  }
  while (!from.empty() && tensor.boxes.size() < kMostBoxes) {
    TestBox box;
    for (const std::int64_t size : tensor.shape) {
      box.offsets.push_back(from.byte() % (size + 1));
      box.sizes.push_back(from.byte() % (size - box.offsets.back() + 2));
    }
    if (tensor.shape.empty()) from.byte();
    tensor.boxes.push_back(box);
  }
  return tensor;
}

bool is_outside(const TestBox& box, const Numbers& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (box.offsets[dim] + box.sizes[dim] > shape[dim]) return true;
  }
  return false;
}

/// How many distinct boxes hold each element.
std::vector<int> counts_of(const Tensor& tensor) {
  std::vector<int> counts(static_cast<std::size_t>(volume(tensor.shape)));
  std::set<std::pair<Numbers, Numbers>> seen;
  for (const TestBox& box : tensor.boxes) {
    if (!seen.insert({box.offsets, box.sizes}).second) continue;
    for (const std::int64_t element : elements_of(box, tensor.shape)) ++counts[static_cast<std::size_t>(element)];
  }
  return counts;
}

/// Every element of a reported box is in no chunk, or in several.
void check_problem(const CoverageProblem& problem, const Tensor& tensor, const std::vector<int>& counts) {
  const TestBox box{problem.offsets, problem.sizes};
  require(volume(box.sizes) > 0 && !is_outside(box, tensor.shape));
  for (const std::int64_t element : elements_of(box, tensor.shape)) {
    const int count = counts[static_cast<std::size_t>(element)];
    require(problem.kind == Kind::gap ? count == 0 : problem.kind == Kind::overlap && count > 1);
  }
}

/// True when the boxes tile the tensor.
bool check_coverage(const Tensor& tensor, const Coverage& coverage) {
  if (std::ranges::any_of(tensor.boxes, [&](const TestBox& box) { return is_outside(box, tensor.shape); })) {
    require(coverage.problems.size() == 1 && coverage.problems[0].kind == Kind::outside);
    require(is_outside({coverage.problems[0].offsets, coverage.problems[0].sizes}, tensor.shape));
    return false;
  }
  const std::vector<int> counts = counts_of(tensor);
  const bool tiles = std::ranges::all_of(counts, [](int count) { return count == 1; });
  require(coverage.problems.empty() == tiles);
  for (const CoverageProblem& problem : coverage.problems) check_problem(problem, tensor, counts);
  return tiles;
}

/// The piece of one box in one tile is the list of its elements there, and its runs put each in its place.
void check_piece(const TestBox& box, const Tensor& tensor, std::uint64_t begin, std::uint64_t end,
                 std::vector<int>& filled) {
  const BoxInTensor in_tensor{.shape = tensor.shape, .offsets = box.offsets, .sizes = box.sizes};
  const std::vector<std::int64_t> elements = elements_of(box, tensor.shape);
  const auto is_inside = [&](std::int64_t element) {
    return static_cast<std::uint64_t>(element) >= begin && static_cast<std::uint64_t>(element) < end;
  };
  const auto expected = static_cast<std::uint64_t>(std::ranges::count_if(elements, is_inside));
  const Piece piece = piece_of(in_tensor, begin, end);
  require(piece.count == expected);
  if (expected == 0) return;
  require(is_inside(elements[piece.first]));
  require(first_element(in_tensor) == static_cast<std::uint64_t>(elements.front()));
  require(end_element(in_tensor) == static_cast<std::uint64_t>(elements.back()) + 1);
  std::uint64_t done = 0, runs = 0;
  for_each_run(in_tensor, piece, [&](const Run& run) {
    require(run.from == done && run.count > 0 && run.count <= piece.count - done);
    for (std::uint64_t i = 0; i < run.count; ++i) {
      require(static_cast<std::uint64_t>(elements[piece.first + done + i]) == run.to + i);
      ++filled[run.to + i];
    }
    done += run.count;
    ++runs;
  });
  require(done == piece.count && single_run(in_tensor, piece).has_value() == (runs == 1));
}

/// Tile after tile, the chunks to read fill every element once.
void check_tiles(const Tensor& tensor, const Coverage& coverage, std::uint64_t tiles) {
  const auto elements = static_cast<std::uint64_t>(volume(tensor.shape));
  const std::uint64_t tile = elements / tiles + 1;
  std::vector<int> filled(elements);
  for (std::uint64_t begin = 0; begin < elements; begin += tile) {
    for (const std::uint64_t chunk : coverage.chunks)
      check_piece(tensor.boxes[chunk], tensor, begin, std::min(elements, begin + tile), filled);
  }
  require(std::ranges::all_of(filled, [](int count) { return count == 1; }));
}

/// Chunks that are read, replicas and empty ones are all there are.
void check_listed(const Tensor& tensor, const Coverage& coverage) {
  require(coverage.replica_ends.size() == coverage.chunks.size());
  require(coverage.chunks.empty() || coverage.replica_ends.back() == coverage.replicas.size());
  std::set<std::uint64_t> listed(coverage.chunks.begin(), coverage.chunks.end());
  listed.insert(coverage.replicas.begin(), coverage.replicas.end());
  for (std::size_t i = 0; i < tensor.boxes.size(); ++i)
    require(listed.contains(i) == (volume(tensor.boxes[i].sizes) > 0));
}

void judge_small(const Tensor& tensor, std::uint64_t tiles) {
  Index index;
  const EntryId entry = add_boxes(index, "w", tensor.shape, tensor.boxes);
  const Coverage coverage = cover(index, entry);
  if (!check_coverage(tensor, coverage))
    throw Error(ErrorKind::input, describe(coverage.problems.front(), index.entry(entry)));
  check_listed(tensor, coverage);
  check_tiles(tensor, coverage, tiles);
}

void judge_wide(const Tensor& tensor) {
  Index index;
  const EntryId entry = add_boxes(index, "w", tensor.shape, tensor.boxes);
  byte_count(index.entry(entry));
  for (const CoverageProblem& problem : cover(index, entry).problems)
    throw Error(ErrorKind::input, describe(problem, index.entry(entry)));
}

}  // namespace

int judge(Input input) {
  return verdict_of([&] {
    Taker from(input);
    const std::uint8_t kind = from.byte();
    if (kind % 2 == 1) return judge_wide(take_wide_tensor(from));
    judge_small(take_small_tensor(from), 1 + kind / 2 % kMostTiles);
  });
}

}  // namespace fsdpckpt::fuzz
