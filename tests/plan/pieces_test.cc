// Pieces and runs of random boxes and tiles, against lists of elements.
#include "plan/pieces.h"

#include <gtest/gtest.h>

#include <random>

#include "model/boxes.h"

namespace fsdpckpt {
namespace {

BoxInTensor view(const TestBox& box, const Numbers& shape) {
  return {.shape = shape, .offsets = box.offsets, .sizes = box.sizes};
}

TestBox random_box(std::mt19937& random, const Numbers& shape) {
  TestBox box;
  for (const std::int64_t size : shape) {
    const std::int64_t begin = random_between(random, 0, size - 1);
    box.offsets.push_back(begin);
    box.sizes.push_back(random_between(random, 1, 3) == 1 ? size - begin : random_between(random, 1, size - begin));
    if (random_between(random, 1, 3) == 1) box.offsets.back() = 0, box.sizes.back() = size;
  }
  return box;
}

/// Indices (in the box's order) of the box's elements that lie in [begin, end) of the tensor.
std::vector<std::uint64_t> inside(const std::vector<std::int64_t>& elements, std::int64_t begin, std::int64_t end) {
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] >= begin && elements[i] < end) found.push_back(i);
  }
  return found;
}

void expect_runs(const BoxInTensor& box, const Piece& piece, const std::vector<std::int64_t>& elements) {
  std::uint64_t done = 0, runs = 0;
  std::int64_t before = -2;
  for_each_run(box, piece, [&](const Run& run) {
    EXPECT_EQ(run.from, done);
    EXPECT_GT(run.count, 0U);
    EXPECT_NE(static_cast<std::int64_t>(run.to), before + 1) << "two runs that are one";
    for (std::uint64_t i = 0; i < run.count; ++i)
      ASSERT_EQ(static_cast<std::int64_t>(run.to + i), elements[piece.first + run.from + i]);
    before = static_cast<std::int64_t>(run.to + run.count) - 1;
    done += run.count;
    ++runs;
  });
  EXPECT_EQ(done, piece.count);
  const auto single = single_run(box, piece);
  EXPECT_EQ(single.has_value(), runs == 1);
  const auto first = static_cast<std::uint64_t>(elements[piece.first]);
  EXPECT_EQ(single.value_or(first), first);
}

void check_tile(const TestBox& box, const Numbers& shape, std::int64_t begin, std::int64_t end) {
  const BoxInTensor in_tensor = view(box, shape);
  const std::vector<std::int64_t> elements = elements_of(box, shape);
  const std::vector<std::uint64_t> expected = inside(elements, begin, end);
  const Piece piece = piece_of(in_tensor, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
  ASSERT_EQ(piece.count, expected.size());
  if (piece.count == 0) return;
  ASSERT_EQ(piece.first, expected.front());
  expect_runs(in_tensor, piece, elements);
}

class RandomPieces : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomPieces, AreWhatAListOfElementsSays) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int round = 0; round < 3000; ++round) {
    const Numbers shape = random_shape(random, GetParam(), GetParam() < 3 ? 12 : 6);
    const TestBox box = random_box(random, shape);
    const std::int64_t begin = random_between(random, 0, volume(shape) - 1);
    ASSERT_NO_FATAL_FAILURE(check_tile(box, shape, begin, random_between(random, begin, volume(shape))));
    ASSERT_NO_FATAL_FAILURE(check_tile(box, shape, 0, volume(shape)));
  }
}

TEST_P(RandomPieces, BeginAndEndAtTheFirstAndLastElement) {
  std::mt19937 random(static_cast<unsigned>(100 + GetParam()));
  for (int round = 0; round < 1000; ++round) {
    const Numbers shape = random_shape(random, GetParam(), 6);
    const TestBox box = random_box(random, shape);
    const std::vector<std::int64_t> elements = elements_of(box, shape);
    EXPECT_EQ(first_element(view(box, shape)), static_cast<std::uint64_t>(elements.front()));
    EXPECT_EQ(end_element(view(box, shape)), static_cast<std::uint64_t>(elements.back() + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RandomPieces, testing::Values(0, 1, 2, 3, 4, 5));

TEST(Pieces, ABoxBesideTheTileGivesNothing) {
  const Numbers shape = {4, 10};
  const TestBox box{{1, 0}, {1, 10}};
  EXPECT_EQ(piece_of(view(box, shape), 0, 10).count, 0U);
  EXPECT_EQ(piece_of(view(box, shape), 20, 40).count, 0U);
}

TEST(Pieces, AColumnGivesOneRunARow) {
  const Numbers shape = {3, 10};
  const TestBox box{{0, 4}, {3, 2}};
  std::vector<std::uint64_t> to;
  for_each_run(view(box, shape), {0, 6}, [&](const fsdpckpt::Run& run) { to.push_back(run.to); });
  EXPECT_EQ(to, (std::vector<std::uint64_t>{4, 14, 24}));
}

TEST(Pieces, CountBeyondThirtyTwoBits) {
  const Numbers shape = {1 << 20, 1 << 20};
  const TestBox box{{1 << 19, 0}, {1 << 19, 1 << 20}};
  const std::uint64_t half = std::uint64_t{1} << 39;
  const Piece piece = piece_of(view(box, shape), half + 5, half + 12);
  EXPECT_EQ(piece.first, 5U);
  EXPECT_EQ(piece.count, 7U);
  EXPECT_EQ(single_run(view(box, shape), piece), half + 5);
}

}  // namespace
}  // namespace fsdpckpt
