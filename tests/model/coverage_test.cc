#include "model/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error_of.h"
#include "model/boxes.h"

namespace fsdpckpt {
namespace {

using Kind = CoverageProblem::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

Coverage cover_boxes(const Numbers& shape, const std::vector<TestBox>& boxes) {
  Index index;
  return cover(index, add_boxes(index, "w", shape, boxes));
}

void expect_problem(const Coverage& coverage, Kind kind, const TestBox& box) {
  ASSERT_EQ(coverage.problems.size(), 1U);
  EXPECT_EQ(coverage.problems[0].kind, kind);
  EXPECT_EQ(coverage.problems[0].offsets, box.offsets);
  EXPECT_EQ(coverage.problems[0].sizes, box.sizes);
}

TEST(Coverage, OrdersChunksByTheirFirstElement) {
  const Coverage coverage = cover_boxes({4, 4}, {{{2, 2}, {2, 2}}, {{0, 0}, {2, 4}}, {{2, 0}, {2, 2}}});
  EXPECT_THAT(coverage.problems, IsEmpty());
  EXPECT_THAT(coverage.chunks, ElementsAre(1, 2, 0));
}

TEST(Coverage, NamesTheFirstMissingBox) {
  expect_problem(cover_boxes({8, 4}, {{{0, 0}, {4, 4}}}), Kind::gap, {{4, 0}, {4, 4}});
  expect_problem(cover_boxes({8, 4}, {{{4, 0}, {4, 4}}}), Kind::gap, {{0, 0}, {4, 4}});
  expect_problem(cover_boxes({8, 4}, {{{0, 0}, {8, 3}}}), Kind::gap, {{0, 3}, {8, 1}});
}

TEST(Coverage, NamesTheFirstOverlap) {
  expect_problem(cover_boxes({8, 4}, {{{0, 0}, {5, 4}}, {{3, 0}, {5, 4}}}), Kind::overlap, {{3, 0}, {2, 4}});
}

TEST(Coverage, NamesAChunkOutside) {
  expect_problem(cover_boxes({8, 4}, {{{0, 0}, {8, 4}}, {{6, 0}, {4, 4}}}), Kind::outside, {{6, 0}, {4, 4}});
}

TEST(Coverage, AHugeOffsetIsOutsideAndDoesNotWrap) {
  constexpr std::int64_t kHuge = INT64_MAX;
  expect_problem(cover_boxes({8}, {{{kHuge}, {8}}}), Kind::outside, {{kHuge}, {8}});
  expect_problem(cover_boxes({8}, {{{8}, {kHuge}}}), Kind::outside, {{8}, {kHuge}});
}

TEST(Coverage, FourBoxesAroundAHoleAreAGap) {
  const std::vector<TestBox> pinwheel = {{{0, 0}, {1, 2}}, {{0, 2}, {2, 1}}, {{2, 1}, {1, 2}}, {{1, 0}, {2, 1}}};
  expect_problem(cover_boxes({3, 3}, pinwheel), Kind::gap, {{1, 1}, {1, 1}});
  std::vector<TestBox> filled = pinwheel;
  filled.push_back({{1, 1}, {1, 1}});
  EXPECT_THAT(cover_boxes({3, 3}, filled).problems, IsEmpty());
}

TEST(Coverage, AGapAndAnOverlapOfTheSameVolumeDoNotCancel) {
  EXPECT_EQ(cover_boxes({4}, {{{0}, {2}}, {{1}, {2}}}).problems.size(), 1U);
}

TEST(Coverage, IdenticalBoxesAreReplicasOfTheFirst) {
  const Coverage coverage = cover_boxes({4}, {{{2}, {2}}, {{0}, {2}}, {{2}, {2}}, {{0}, {2}}, {{2}, {2}}});
  EXPECT_THAT(coverage.problems, IsEmpty());
  EXPECT_THAT(coverage.chunks, ElementsAre(1, 0));
  EXPECT_THAT(coverage.replicas, ElementsAre(3, 2, 4));
  EXPECT_THAT(coverage.replica_ends, ElementsAre(1, 3));
}

TEST(Coverage, EmptyChunksAreNotRead) {
  const Coverage coverage = cover_boxes({3, 2}, {{{3, 0}, {0, 2}}, {{0, 0}, {3, 2}}, {{0, 0}, {0, 2}}});
  EXPECT_THAT(coverage.problems, IsEmpty());
  EXPECT_THAT(coverage.chunks, ElementsAre(1));
}

TEST(Coverage, AnEmptyTensorNeedsNoChunk) {
  EXPECT_THAT(cover_boxes({0, 3}, {}).problems, IsEmpty());
  EXPECT_THAT(cover_boxes({0, 3}, {{{0, 0}, {0, 3}}}).chunks, IsEmpty());
}

TEST(Coverage, ATensorWithoutChunksIsAGap) { expect_problem(cover_boxes({2, 3}, {}), Kind::gap, {{0, 0}, {2, 3}}); }

TEST(Coverage, ATensorWithoutDimensionsNeedsOneChunk) {
  EXPECT_THAT(cover_boxes({}, {{{}, {}}}).problems, IsEmpty());
  expect_problem(cover_boxes({}, {}), Kind::gap, {{}, {}});
}

TEST(Coverage, TwoChunksOfATensorWithoutDimensionsAreReplicas) {
  const Coverage coverage = cover_boxes({}, {{{}, {}}, {{}, {}}});
  EXPECT_THAT(coverage.chunks, ElementsAre(0));
  EXPECT_THAT(coverage.replicas, ElementsAre(1));
}

TEST(Coverage, AShapeTooLargeIsAnInputError) {
  EXPECT_EQ(error_of([] { cover_boxes({INT64_MAX, INT64_MAX}, {}); }).kind(), ErrorKind::input);
}

double seconds_to_cover(const Numbers& shape, const std::vector<TestBox>& boxes) {
  Index index;
  const EntryId entry = add_boxes(index, "w", shape, boxes);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(cover(index, entry).problems, IsEmpty());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Coverage, JudgesAGridOfAHundredThousandChunksInWellUnderASecond) {
  std::vector<TestBox> boxes;
  for (std::int64_t row = 0; row < 1000; ++row) {
    for (std::int64_t column = 0; column < 100; ++column) boxes.push_back({{row * 4, column * 3}, {4, 3}});
  }
  EXPECT_LT(seconds_to_cover({4000, 300}, boxes), 0.5);
}

TEST(Coverage, JudgesAHundredThousandRowsAndColumnsInWellUnderASecond) {
  std::vector<TestBox> rows, columns;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    rows.push_back({{i, 0}, {1, 8}});
    columns.push_back({{0, i}, {8, 1}});
  }
  EXPECT_LT(seconds_to_cover({100'000, 8}, rows), 0.5);
  EXPECT_LT(seconds_to_cover({8, 100'000}, columns), 0.5);
}

/// `rows` whole rows beside as many columns: every row lies beside every column.
std::vector<TestBox> rows_beside_columns(std::int64_t rows) {
  std::vector<TestBox> boxes;
  for (std::int64_t i = 0; i < rows; ++i) {
    boxes.push_back({{i, 0}, {1, 1}});
    boxes.push_back({{0, i + 1}, {rows, 1}});
  }
  return boxes;
}

TEST(Coverage, JudgesRowsBesideColumnsInWellUnderASecond) {
  constexpr std::int64_t kRows = 40'000;
  EXPECT_LT(seconds_to_cover({kRows, kRows + 1}, rows_beside_columns(kRows)), 0.5);
}

TEST(Coverage, NamesAGapBehindManyRowsBesideColumnsInLittleTime) {
  constexpr std::int64_t kRows = 40'000;
  std::vector<TestBox> boxes = rows_beside_columns(kRows);
  boxes.erase(boxes.end() - 2);
  const auto start = std::chrono::steady_clock::now();
  expect_problem(cover_boxes({kRows, kRows + 1}, boxes), Kind::gap, {{kRows - 1, 0}, {1, 1}});
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5.0);
}

/// Cut in two along each of seventeen dimensions, and in a thousand along another: more corners than are kept.
TEST(Coverage, JudgesChunksCutInManyDimensions) {
  const Numbers shape(18, 2);
  Numbers long_shape = shape;
  long_shape[0] = 1000;
  std::vector<TestBox> boxes;
  for (std::int64_t row = 0; row < 1000; ++row) {
    TestBox low{Numbers(18, 0), long_shape}, high = low;
    low.offsets[0] = high.offsets[0] = row;
    low.sizes[0] = high.sizes[0] = 1;
    const auto dim = static_cast<std::size_t>(1 + row % 17);
    low.sizes[dim] = high.sizes[dim] = high.offsets[dim] = 1;
    boxes.push_back(low);
    boxes.push_back(high);
  }
  EXPECT_THAT(cover_boxes(long_shape, boxes).problems, IsEmpty());
  const TestBox last = boxes.back();
  boxes.pop_back();
  expect_problem(cover_boxes(long_shape, boxes), Kind::gap, last);
}

TEST(Coverage, DescribesProblemsInWords) {
  const Numbers shape = {8, 4};
  const Entry entry{.shape = shape};
  EXPECT_EQ(describe({Kind::gap, {4, 0}, {4, 4}}, entry), "elements [4:8, 0:4] are in no chunk");
  EXPECT_EQ(describe({Kind::overlap, {2, 0}, {1, 4}}, entry), "elements [2:3, 0:4] are in more than one chunk");
  EXPECT_EQ(describe({Kind::outside, {6, 0}, {4, 4}}, entry),
            "chunk [6:10, 0:4] lies outside the tensor's shape [8, 4]");
}

}  // namespace
}  // namespace fsdpckpt
