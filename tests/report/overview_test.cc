#include "report/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/checkpoint_data.h"

namespace fsdpckpt {
namespace {

using Numbers = std::vector<std::int64_t>;
using testing::ElementsAre;

struct Box {
  Numbers offsets, sizes;
};

/// Adds a float32 tensor cut into `boxes`, at the top of the tree.
EntryId add_tensor(Checkpoint& checkpoint, std::string_view name, const Numbers& shape, const std::vector<Box>& boxes) {
  Checkpoint::Data& data = checkpoint.data();
  const std::uint32_t first = data.index.next_box();
  for (const Box& box : boxes) data.index.add_box(box.offsets, box.sizes);
  const EntryId id =
      data.index.add_tensor(name, DType::float32, shape, first, static_cast<std::uint32_t>(boxes.size()));
  const Key path[] = {{.text = name}};
  data.tree.insert(path, id);
  return id;
}

std::string chunks_of(const Numbers& shape, const std::vector<Box>& boxes) {
  Checkpoint checkpoint;
  return chunks_text(checkpoint.data(), add_tensor(checkpoint, "w", shape, boxes));
}

TEST(ChunksText, SaysAlongWhichDimensionsATensorIsCut) {
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {4, 2}}}), "1");
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}}), "2 x dim 0");
  EXPECT_EQ(chunks_of({4, 2}, {{{0, 0}, {4, 1}}, {{0, 1}, {4, 1}}}), "2 x dim 1");
  EXPECT_EQ(chunks_of({2, 2}, {{{0, 0}, {1, 1}}, {{0, 1}, {1, 1}}, {{1, 0}, {1, 2}}}), "3 x dims 0, 1");
}

TEST(ChunksText, CountsReplicasAndNoEmptyBoxes) {
  EXPECT_EQ(chunks_of({4}, {{{0}, {4}}, {{0}, {4}}}), "2 replicas");
  EXPECT_EQ(chunks_of({1}, {{{0}, {1}}, {{1}, {0}}}), "1");
  EXPECT_EQ(chunks_of({3}, {{{0}, {2}}, {{2}, {1}}, {{3}, {0}}}), "2 x dim 0");
  EXPECT_EQ(chunks_of({}, {{{}, {}}, {{}, {}}}), "2 replicas");
}

TEST(Overview, CountsWhatIsSelected) {
  Checkpoint checkpoint;
  add_tensor(checkpoint, "a", {4, 2}, {{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}});
  add_tensor(checkpoint, "b", {3}, {{{0}, {3}}});
  const EntryId object = checkpoint.data().index.add_object("c");
  const Key path[] = {{.text = "c"}};
  checkpoint.data().tree.insert(path, object);

  const Overview all = overview_of(checkpoint.data(), {true, true, true});
  EXPECT_EQ(all.tensors, 2U);
  EXPECT_EQ(all.objects, 1U);
  EXPECT_EQ(all.elements, 11U);
  EXPECT_EQ(all.bytes, 44U);
  EXPECT_EQ(all.chunks, 3U);
  EXPECT_THAT(all.order, ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(all.per_dtype[static_cast<std::size_t>(DType::float32)].tensors, 2U);

  const Overview one = overview_of(checkpoint.data(), {false, true, false});
  EXPECT_EQ(one.tensors, 1U);
  EXPECT_EQ(one.bytes, 12U);
  EXPECT_THAT(one.order, ElementsAre(1U));
}

TEST(Overview, CountsFilesAndRanks) {
  Checkpoint checkpoint;
  checkpoint.data().writer = "DCP";
  checkpoint.data().files = {{".metadata", 10}, {"__0_0.distcp", 100}, {"__0_1.distcp", 100}, {"__12_0.distcp", 50}};
  const Overview overview = overview_of(checkpoint.data(), {});
  EXPECT_EQ(overview.file_bytes, 260U);
  EXPECT_EQ(overview.data_files, 3U);
  EXPECT_EQ(overview.ranks, 2U);
}

}  // namespace
}  // namespace fsdpckpt
