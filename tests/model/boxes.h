// Boxes of a tensor for tests: made at random, and judged element by element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "model/index.h"

namespace fsdpckpt {

using Numbers = std::vector<std::int64_t>;

struct TestBox {
  Numbers offsets, sizes;
  bool operator==(const TestBox&) const = default;
};

inline std::int64_t volume(const Numbers& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

inline std::int64_t random_between(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline Numbers random_shape(std::mt19937& random, std::size_t dims, std::int64_t most) {
  Numbers shape(dims);
  for (std::int64_t& size : shape) size = random_between(random, 1, most);
  return shape;
}

/// The place in the tensor of every element of the box, in the box's row-major order.
inline std::vector<std::int64_t> elements_of(const TestBox& box, const Numbers& shape) {
  std::vector<std::int64_t> elements = {0};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<std::int64_t> next;
    for (const std::int64_t element : elements) {
      for (std::int64_t i = 0; i < box.sizes[dim]; ++i) next.push_back(element * shape[dim] + box.offsets[dim] + i);
    }
    elements = std::move(next);
  }
  return elements;
}

/// Boxes that tile the shape: the whole, cut in two again and again.
inline std::vector<TestBox> random_partition(std::mt19937& random, const Numbers& shape, int cuts) {
  std::vector<TestBox> boxes = {{Numbers(shape.size(), 0), shape}};
  for (int i = 0; i < cuts && !shape.empty(); ++i) {
    TestBox& box = boxes[static_cast<std::size_t>(random_between(random, 0, std::ssize(boxes) - 1))];
    const auto dim = static_cast<std::size_t>(random_between(random, 0, std::ssize(shape) - 1));
    if (box.sizes[dim] < 2) continue;
    const std::int64_t cut = random_between(random, 1, box.sizes[dim] - 1);
    TestBox rest = box;
    rest.offsets[dim] += cut;
    rest.sizes[dim] -= cut;
    box.sizes[dim] = cut;
    boxes.push_back(rest);
  }
  std::ranges::shuffle(boxes, random);
  return boxes;
}

/// Adds a uint8 tensor with these chunks; chunk i lies in extent i.
inline EntryId add_boxes(Index& index, std::string_view name, const Numbers& shape, const std::vector<TestBox>& boxes) {
  const std::uint32_t first = index.next_box();
  for (const TestBox& box : boxes) index.add_box(box.offsets, box.sizes);
  const EntryId entry = index.add_tensor(name, DType::uint8, shape, first, static_cast<std::uint32_t>(boxes.size()));
  for (std::size_t i = 0; i < boxes.size(); ++i) index.place(entry, i, index.add_extent({.offset = i}));
  return entry;
}

}  // namespace fsdpckpt
