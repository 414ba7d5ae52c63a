// Random partitions, damaged at random, against a count of every element.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/boxes.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

using Kind = CoverageProblem::Kind;

bool is_outside(const TestBox& box, const Numbers& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (box.offsets[dim] + box.sizes[dim] > shape[dim]) return true;
  }
  return false;
}

/// How many distinct boxes hold each element.
std::vector<int> counts_of(const std::vector<TestBox>& boxes, const Numbers& shape) {
  std::vector<int> counts(static_cast<std::size_t>(volume(shape)));
  std::set<std::pair<Numbers, Numbers>> seen;
  for (const TestBox& box : boxes) {
    if (!seen.insert({box.offsets, box.sizes}).second) continue;
    for (const std::int64_t element : elements_of(box, shape)) ++counts[static_cast<std::size_t>(element)];
  }
  return counts;
}

/// The reported box really is what it is said to be.
void expect_true(const CoverageProblem& problem, const std::vector<TestBox>& boxes, const Numbers& shape) {
  const TestBox box{problem.offsets, problem.sizes};
  if (problem.kind == Kind::outside) {
    EXPECT_NE(std::ranges::find(boxes, box), boxes.end());
    EXPECT_TRUE(is_outside(box, shape));
    return;
  }
  const std::vector<int> counts = counts_of(boxes, shape);
  EXPECT_GT(volume(box.sizes), 0);
  for (const std::int64_t element : elements_of(box, shape)) {
    const int count = counts[static_cast<std::size_t>(element)];
    EXPECT_TRUE(problem.kind == Kind::gap ? count == 0 : count > 1) << "element " << element << " count " << count;
  }
}

void judge(const std::vector<TestBox>& boxes, const Numbers& shape) {
  Index index;
  const Coverage coverage = cover(index, add_boxes(index, "w", shape, boxes));
  const bool leaves = std::ranges::any_of(boxes, [&](const TestBox& box) { return is_outside(box, shape); });
  const bool tiles = !leaves && std::ranges::all_of(counts_of(boxes, shape), [](int count) { return count == 1; });
  ASSERT_EQ(coverage.problems.empty(), tiles) << shape_text(shape);
  for (const CoverageProblem& problem : coverage.problems) {
    EXPECT_EQ(problem.kind == Kind::outside, leaves);
    expect_true(problem, boxes, shape);
  }
}

/// Removes, moves, copies, enlarges, shrinks or empties one box.
void damage(std::mt19937& random, std::vector<TestBox>& boxes, const Numbers& shape) {
  if (boxes.empty()) return;
  const auto victim = static_cast<std::size_t>(random_between(random, 0, std::ssize(boxes) - 1));
  const std::size_t dim =
      shape.empty() ? 0 : static_cast<std::size_t>(random_between(random, 0, std::ssize(shape) - 1));
  TestBox& box = boxes[victim];
  switch (random_between(random, 0, shape.empty() ? 1 : 5)) {
    case 0:
      boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(victim));
      break;
    case 1:
      boxes.push_back(TestBox(box));
      break;
    case 2:
      box.offsets[dim] = random_between(random, 0, shape[dim]);
      break;
    case 3:
      box.sizes[dim] += random_between(random, 1, 2);
      break;
    case 4:
      box.sizes[dim] = std::max<std::int64_t>(0, box.sizes[dim] - 1);
      break;
    case 5:
      if (box.offsets[dim] > 0) --box.offsets[dim], ++box.sizes[dim];
      break;
  }
}

class RandomCoverage : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomCoverage, FindsProblemsExactlyWhenACountOfElementsDoes) {
  std::mt19937 random(static_cast<unsigned>(1000 + GetParam()));
  for (int round = 0; round < 1500; ++round) {
    const Numbers shape = random_shape(random, GetParam(), GetParam() < 3 ? 9 : 5);
    std::vector<TestBox> boxes = random_partition(random, shape, static_cast<int>(random_between(random, 0, 14)));
    for (std::int64_t i = random_between(random, 0, 3); i > 0; --i) damage(random, boxes, shape);
    std::ranges::shuffle(boxes, random);
    ASSERT_NO_FATAL_FAILURE(judge(boxes, shape)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RandomCoverage, testing::Values(0, 1, 2, 3, 4));

}  // namespace
}  // namespace fsdpckpt
