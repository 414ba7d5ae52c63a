#include "report/chunks_text.h"

#include <gtest/gtest.h>

#include "checkpoints.h"

namespace fsdpckpt {
namespace {

std::string chunks_of(const Numbers& shape, const std::vector<Box>& boxes) {
  Checkpoint checkpoint;
  const EntryId id = add_tensor(checkpoint, "w", shape, boxes);
  return chunks_text(checkpoint.data().index, id);
}

TEST(ChunksText, SaysAlongWhichDimensionATensorIsCut) {
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {4, 2}}}), "1");
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}}), "2 x dim 0");
  EXPECT_EQ(chunks_of({4, 2}, {{{2, 0}, {2, 2}}, {{0, 0}, {2, 2}}}), "2 x dim 0") << "in any order";
  EXPECT_EQ(chunks_of({5, 2}, {{{0, 0}, {3, 2}}, {{3, 0}, {2, 2}}}), "2 x dim 0") << "of any lengths";
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {4, 1}}, {{0, 1}, {4, 1}}}), "2 x dim 1");
}

TEST(ChunksText, ShowsTheSidesOfAGrid) {
  EXPECT_EQ(chunks_of({2, 3}, {{{0, 0}, {1, 1}}, {{0, 1}, {1, 2}}, {{1, 0}, {1, 1}}, {{1, 1}, {1, 2}}}),
            "2 x dim 0, 2 x dim 1");
  std::vector<Box> cells;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) cells.push_back({{i, 0, j}, {1, 5, 1}});
  }
  EXPECT_EQ(chunks_of({2, 5, 3}, cells), "2 x dim 0, 3 x dim 2");
}

TEST(ChunksText, CallsTheRestIrregular) {
  EXPECT_EQ(chunks_of({2, 2}, {{{0, 0}, {1, 1}}, {{0, 1}, {1, 1}}, {{1, 0}, {1, 2}}}), "3 irregular");
  EXPECT_EQ(chunks_of({4}, {{{0}, {2}}, {{0}, {4}}}), "2 irregular") << "an overlap";
}

TEST(ChunksText, CountsReplicasAndNoEmptyBoxes) {
  EXPECT_EQ(chunks_of({4}, {{{0}, {4}}, {{0}, {4}}}), "2 replicas");
  EXPECT_EQ(chunks_of({1}, {{{0}, {1}}, {{1}, {0}}}), "1");
  EXPECT_EQ(chunks_of({3}, {{{0}, {2}}, {{2}, {1}}, {{3}, {0}}}), "2 x dim 0");
  EXPECT_EQ(chunks_of({}, {{{}, {}}, {{}, {}}}), "2 replicas");
  EXPECT_EQ(chunks_of({4}, {{{0}, {2}}, {{2}, {2}}, {{0}, {2}}, {{2}, {2}}}), "2 x dim 0, replicated");
  EXPECT_EQ(chunks_of({0, 3}, {{{0, 0}, {0, 3}}, {{0, 0}, {0, 3}}}), "2 replicas");
}

TEST(ChunksText, SaysThatThereAreNone) { EXPECT_EQ(chunks_of({4}, {}), "0"); }

}  // namespace
}  // namespace fsdpckpt
