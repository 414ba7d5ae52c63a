#include "model/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "model/boxes.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kNoHint = UINT64_MAX;

/// Rows of one element each: chunk i lies at offset i.
std::vector<TestBox> rows(std::int64_t count) {
  std::vector<TestBox> boxes;
  for (std::int64_t i = 0; i < count; ++i) boxes.push_back({{i}, {1}});
  return boxes;
}

TEST(Index, GivesBackEntriesAndChunks) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {5, 7}, {{{0, 0}, {3, 7}}, {{3, 0}, {2, 7}}});
  const Entry tensor = index.entry(entry);
  EXPECT_EQ(tensor.name, "w");
  EXPECT_EQ(tensor.kind, EntryKind::tensor);
  EXPECT_EQ(tensor.dtype, DType::uint8);
  EXPECT_THAT(tensor.shape, ElementsAre(5, 7));
  EXPECT_EQ(tensor.chunk_count, 2U);
  const Chunk chunk = index.chunk(entry, 1);
  EXPECT_THAT(chunk.offsets, ElementsAre(3, 0));
  EXPECT_THAT(chunk.sizes, ElementsAre(2, 7));
  EXPECT_TRUE(chunk.is_stored);
  EXPECT_EQ(chunk.extent.offset, 1U);
}

TEST(Index, AChunkThatWasNotPlacedIsNotStored) {
  Index index;
  const std::uint32_t first = index.add_box(Numbers{0}, Numbers{4});
  const EntryId entry = index.add_tensor("w", DType::int8, Numbers{4}, first, 1);
  EXPECT_FALSE(index.chunk(entry, 0).is_stored);
  EXPECT_EQ(index.placed(entry, 0), kNoExtent);
}

TEST(Index, ATensorWithoutDimensionsHasOneChunkWithoutNumbers) {
  Index index;
  const EntryId entry = add_boxes(index, "step", {}, {{{}, {}}});
  EXPECT_THAT(index.entry(entry).shape, IsEmpty());
  EXPECT_THAT(index.chunk(entry, 0).sizes, IsEmpty());
  EXPECT_EQ(index.find_chunk(entry, Numbers{}, kNoHint), 0U);
}

TEST(Index, AnObjectHasRoomForItsCopies) {
  Index index;
  add_boxes(index, "w", {1}, rows(1));
  const EntryId object = index.add_object("rng", 3);
  index.place(object, 2, index.add_extent({.file = 7}));
  EXPECT_EQ(index.entry(object).kind, EntryKind::object);
  EXPECT_EQ(index.entry(object).chunk_count, 3U);
  EXPECT_FALSE(index.chunk(object, 0).is_stored);
  EXPECT_EQ(index.chunk(object, 2).extent.file, 7U);
}

TEST(Index, FindsEntriesByNameWhateverTheGuess) {
  Index index;
  add_boxes(index, "a", {1}, rows(1));
  add_boxes(index, "b", {1}, rows(1));
  for (const EntryId guess : {0U, 1U, 2U, 900U}) {
    EXPECT_EQ(index.find("a", guess), 0U);
    EXPECT_EQ(index.find("b", guess), 1U);
    EXPECT_EQ(index.find("c", guess), 2U);
  }
}

TEST(Index, RefusesASecondEntryOfOneNameAndKeepsTheFirst) {
  Index index;
  add_boxes(index, "w", {1}, rows(1));
  const Error error = error_of([&] { index.add_object("w"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().entry, "w");
  EXPECT_EQ(index.entry_count(), 1U);
  EXPECT_EQ(index.entry(0).kind, EntryKind::tensor);
}

TEST(IndexFindChunk, TakesARightHint) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {4}, rows(4));
  EXPECT_EQ(index.find_chunk(entry, Numbers{2}, 2), 2U);
}

TEST(IndexFindChunk, CorrectsAWrongHint) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {4}, rows(4));
  for (const std::uint64_t hint : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{99}, kNoHint})
    EXPECT_EQ(index.find_chunk(entry, Numbers{2}, hint), 2U) << hint;
}

TEST(IndexFindChunk, FindsNothingAtOtherOffsets) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {4}, rows(4));
  EXPECT_EQ(index.find_chunk(entry, Numbers{4}, 1), 4U);
  EXPECT_EQ(index.find_chunk(entry, Numbers{-1}, kNoHint), 4U);
}

TEST(IndexFindChunk, FindsNothingForAnotherNumberOfDimensions) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {4}, rows(4));
  EXPECT_EQ(index.find_chunk(entry, Numbers{1, 0}, 1), 4U);
  EXPECT_EQ(index.find_chunk(entry, Numbers{}, 1), 4U);
}

// DTensor of torch 2.0 to 2.3 gave the empty shard of a rank the offsets of the first rank's shard.
TEST(IndexFindChunk, PrefersTheRealChunkToAnEmptyOneAtTheSameOffsets) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {3}, {{{0}, {0}}, {{0}, {3}}, {{0}, {0}}});
  for (const std::uint64_t hint : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, kNoHint})
    EXPECT_EQ(index.find_chunk(entry, Numbers{0}, hint), 1U) << hint;
}

TEST(IndexFindChunk, TakesAnEmptyChunkWhenThereIsNoOtherThere) {
  Index index;
  const EntryId entry = add_boxes(index, "w", {3}, {{{0}, {3}}, {{3}, {0}}});
  EXPECT_EQ(index.find_chunk(entry, Numbers{3}, 0), 1U);
  EXPECT_EQ(index.find_chunk(entry, Numbers{3}, 1), 1U);
}

TEST(IndexFindChunk, LooksUpAmongVeryManyChunksWithoutHints) {
  constexpr std::int64_t kCount = 50'000;
  Index index;
  add_boxes(index, "before", {3}, rows(3));
  const EntryId entry = add_boxes(index, "w", {kCount}, rows(kCount));
  for (std::int64_t i = 0; i < kCount; ++i)
    ASSERT_EQ(index.find_chunk(entry, Numbers{i}, kNoHint), static_cast<std::uint64_t>(i));
  EXPECT_EQ(index.find_chunk(entry, Numbers{kCount}, kNoHint), static_cast<std::uint64_t>(kCount));
}

TEST(IndexFindChunk, FindsAnEmptyChunkAmongVeryMany) {
  constexpr std::int64_t kCount = 5'000;
  Index index;
  std::vector<TestBox> boxes = rows(kCount);
  boxes.push_back({{kCount}, {0}});
  const EntryId entry = add_boxes(index, "w", {kCount}, boxes);
  EXPECT_EQ(index.find_chunk(entry, Numbers{kCount}, kNoHint), static_cast<std::uint64_t>(kCount));
}

TEST(IndexFindChunk, SeesEntriesThatCameAfterALookUp) {
  constexpr std::int64_t kCount = 5'000;
  Index index;
  const EntryId a = add_boxes(index, "a", {kCount}, rows(kCount));
  EXPECT_EQ(index.find_chunk(a, Numbers{7}, kNoHint), 7U);
  const EntryId b = add_boxes(index, "b", {kCount}, rows(kCount));
  EXPECT_EQ(index.find_chunk(b, Numbers{4321}, kNoHint), 4321U);
}

TEST(Index, NeedsFewBytesAChunk) {
  constexpr std::int64_t kCount = 100'000;
  Index index;
  std::vector<TestBox> boxes;
  for (std::int64_t i = 0; i < kCount; ++i) boxes.push_back({{i, 0}, {1, 8}});
  add_boxes(index, "w", {kCount, 8}, boxes);
  EXPECT_LE(index.bytes(), 128U * kCount);
}

}  // namespace
}  // namespace fsdpckpt
