// Pieces: what one chunk gives to one tile. A tile is a run of elements of a tensor in row-major order; the elements of
// a chunk that fall into it are a run of the chunk's own row-major order, so a piece is read with one read and
// scattered in runs. Pure index arithmetic: dim-0 shards, column shards and strided shards differ in nothing but the
// lengths of their runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace fsdpckpt {

/// A box of a tensor. All spans have the tensor's number of dimensions; sizes are > 0.
struct BoxInTensor {
  std::span<const std::int64_t> shape;    ///< of the tensor
  std::span<const std::int64_t> offsets;  ///< of the box
  std::span<const std::int64_t> sizes;    ///< of the box
};

/// Elements [first, first + count) of a box, in the box's own row-major order.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The piece of `box` that lies in elements [begin, end) of the tensor; count 0 when none does.
Piece piece_of(const BoxInTensor& box, std::uint64_t begin, std::uint64_t end);

/// One run of a piece: `count` elements from `from` (counted from the piece's first) go to element `to` of the tensor.
struct Run {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t count;
};

/// Calls `use` for every run of the piece, in ascending order, as few as possible.
void for_each_run(const BoxInTensor& box, const Piece& piece, const std::function<void(const Run&)>& use);

/// Where a piece goes when it is one run: the element of the tensor it starts at; nothing when it has several runs.
std::optional<std::uint64_t> single_run(const BoxInTensor& box, const Piece& piece);

/// Elements of the tensor up to the first / behind the last element of the box.
std::uint64_t first_element(const BoxInTensor& box);
std::uint64_t end_element(const BoxInTensor& box);

}  // namespace fsdpckpt
