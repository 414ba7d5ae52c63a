// Do the chunks of a tensor tile it? Every element must come from exactly one chunk; chunks with identical boxes are
// replicas and count once. Works on boxes alone.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/index.h"

namespace fsdpckpt {

struct CoverageProblem {
  enum class Kind : std::uint8_t { gap, overlap, outside };
  Kind kind;
  std::vector<std::int64_t> offsets;  ///< the first box concerned
  std::vector<std::int64_t> sizes;
};

struct Coverage {
  /// Chunks to read, in ascending order of their first element: no empty ones, and of replicas the first.
  std::vector<std::uint64_t> chunks;
  /// For each of `chunks`: the other chunks with the same box, as [first, last) into `replicas`. Empty when there are
  /// none.
  std::vector<std::uint64_t> replicas;
  std::vector<std::uint32_t> replica_ends;
  std::vector<CoverageProblem> problems;  ///< empty when the chunks tile the tensor; otherwise the first ones found
};

/// Judges the chunks of one tensor entry. Costs a sort of the chunks' corners, not n^2, unless they are cut in so many
/// dimensions that a sweep has to do.
Coverage cover(const Index& index, EntryId entry);

/// True for a chunk without elements.
bool is_empty(const Chunk& chunk);
/// True for replicas of one box.
bool same_box(const Chunk& a, const Chunk& b);
/// By first element; of boxes that start together the one with the smaller sizes.
bool box_before(const Chunk& a, const Chunk& b);

/// "rows [3:5, 0:7] are in no chunk", "... are in two chunks", "chunk [6:10, 0:4] lies outside the tensor [8, 4]".
std::string describe(const CoverageProblem& problem, const Entry& entry);

}  // namespace fsdpckpt
