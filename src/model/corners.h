// Whether boxes tile a tensor, by their corners: a box counts +1 or -1 at each corner, by the number of dimensions in
// which it is an end. Boxes that tile leave nothing but the corners of the whole; otherwise the first point, in
// row-major order, that is left over is where the first gap or overlap starts. So one sort decides, however the boxes
// lie to each other.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fsdpckpt {

/// What the corners of some boxes tell.
struct CornerVerdict {
  enum class Kind : std::uint8_t { tiles, gap, overlap };
  Kind kind = Kind::tiles;
  std::vector<std::int64_t> point;  ///< where the first gap or overlap starts; empty when there is none
};

/// Judges non-empty boxes that lie inside a tensor of at least one element. Nothing when they are cut in so many
/// dimensions that the corners would be too many to keep or to number with 64 bits; up to three dimensions (and in
/// practice many more) always fit.
std::optional<CornerVerdict> judge_corners(std::span<const Chunk> boxes, std::span<const std::int64_t> shape);

}  // namespace fsdpckpt
