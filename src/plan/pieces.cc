#include "plan/pieces.h"

#include <algorithm>
#include <array>

namespace fsdpckpt {
namespace {

constexpr std::size_t kMaxDims = 64;
using Coordinates = std::array<std::uint64_t, kMaxDims>;

std::uint64_t at(std::span<const std::int64_t> numbers, std::size_t dim) {
  return static_cast<std::uint64_t>(numbers[dim]);
}

/// Row-major strides of `sizes`, in elements.
Coordinates strides_of(std::span<const std::int64_t> sizes) {
  Coordinates strides{};
  std::uint64_t next = 1;
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = next;
    next *= at(sizes, dim);
  }
  return strides;
}

/// How many elements of the box come before element `element` of the tensor, in row-major order.
std::uint64_t count_before(const BoxInTensor& box, std::uint64_t element) {
  const Coordinates in_tensor = strides_of(box.shape), in_box = strides_of(box.sizes);
  std::uint64_t count = 0;
  for (std::size_t dim = 0; dim < box.shape.size(); ++dim) {
    const std::uint64_t coordinate = element / in_tensor[dim];
    element %= in_tensor[dim];
    if (coordinate < at(box.offsets, dim)) return count;
    const std::uint64_t inside = coordinate - at(box.offsets, dim);
    if (inside >= at(box.sizes, dim)) return count + at(box.sizes, dim) * in_box[dim];
    count += inside * in_box[dim];
  }
  return count;
}

/// The innermost dimension that a run cannot cross: all dimensions behind it are whole in the box.
std::size_t run_dimension(const BoxInTensor& box) {
  std::size_t dim = box.shape.size();
  while (dim > 0 && box.sizes[dim - 1] == box.shape[dim - 1]) --dim;
  return dim == 0 ? 0 : dim - 1;
}

/// Where element `element` of the box lies in the tensor.
std::uint64_t element_in_tensor(const BoxInTensor& box, std::uint64_t element) {
  const Coordinates in_tensor = strides_of(box.shape), in_box = strides_of(box.sizes);
  std::uint64_t place = 0;
  for (std::size_t dim = 0; dim < box.shape.size(); ++dim) {
    place += (at(box.offsets, dim) + element / in_box[dim]) * in_tensor[dim];
    element %= in_box[dim];
  }
  return place;
}

}  // namespace

std::uint64_t first_element(const BoxInTensor& box) { return element_in_tensor(box, 0); }

std::uint64_t end_element(const BoxInTensor& box) {
  std::uint64_t count = 1;
  for (const std::int64_t size : box.sizes) count *= static_cast<std::uint64_t>(size);
  return element_in_tensor(box, count - 1) + 1;
}

Piece piece_of(const BoxInTensor& box, std::uint64_t begin, std::uint64_t end) {
  if (box.shape.empty()) return {0, begin == 0 && end > 0 ? 1U : 0U};
  std::uint64_t count = 1;
  for (const std::int64_t size : box.shape) count *= static_cast<std::uint64_t>(size);
  const std::uint64_t first = count_before(box, begin);
  std::uint64_t all = 1;
  for (const std::int64_t size : box.sizes) all *= static_cast<std::uint64_t>(size);
  return {first, (end >= count ? all : count_before(box, end)) - first};
}

std::optional<std::uint64_t> single_run(const BoxInTensor& box, const Piece& piece) {
  if (box.shape.empty()) return 0;
  const std::size_t dim = run_dimension(box);
  const std::uint64_t run = strides_of(box.sizes)[dim] * at(box.sizes, dim);
  if (piece.first % run + piece.count > run) return std::nullopt;
  return element_in_tensor(box, piece.first);
}

void for_each_run(const BoxInTensor& box, const Piece& piece, const std::function<void(const Run&)>& use) {
  if (box.shape.empty()) return use({0, 0, piece.count});
  const std::size_t dim = run_dimension(box);
  const std::uint64_t run = strides_of(box.sizes)[dim] * at(box.sizes, dim);
  for (std::uint64_t done = 0; done < piece.count;) {
    const std::uint64_t element = piece.first + done;
    const std::uint64_t count = std::min(run - element % run, piece.count - done);
    use({done, element_in_tensor(box, element), count});
    done += count;
  }
}

}  // namespace fsdpckpt
