#include "report/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"
#include "checkpoints.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;

TEST(Overview, CountsWhatIsSelected) {
  Checkpoint checkpoint;
  add_tensor(checkpoint, "a", {4, 2}, {{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}});
  add_tensor(checkpoint, "b", {3}, {{{0}, {3}}});
  add_object(checkpoint, "c");

  const Overview all = overview_of(checkpoint.data(), {true, true, true});
  EXPECT_EQ(all.totals.tensors, 2U);
  EXPECT_EQ(all.totals.objects, 1U);
  EXPECT_EQ(all.totals.elements, 11U);
  EXPECT_EQ(all.totals.bytes, 44U);
  EXPECT_EQ(all.chunks, 3U);
  EXPECT_THAT(all.order, ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(all.per_dtype[static_cast<std::size_t>(DType::float32)].tensors, 2U);

  const Overview one = overview_of(checkpoint.data(), {false, true, false});
  EXPECT_EQ(one.totals.tensors, 1U);
  EXPECT_EQ(one.totals.bytes, 12U);
  EXPECT_THAT(one.order, ElementsAre(1U));
}

TEST(Overview, CountsFilesAndRanks) {
  Checkpoint checkpoint;
  checkpoint.data().writer = "DCP";
  checkpoint.data().files = {{".metadata", 10}, {"__0_0.distcp", 100}, {"__0_1.distcp", 100}, {"__12_0.distcp", 50}};
  const Overview overview = overview_of(checkpoint.data(), {});
  EXPECT_EQ(overview.file_bytes, 260U);
  EXPECT_EQ(overview.rank_files, 3U);
  EXPECT_EQ(overview.ranks, 2U);
}

TEST(Overview, KnowsAnOptimizerWithFlatKeys) {
  Checkpoint checkpoint;
  add_whole(checkpoint, "a.state.w.exp_avg", {1}, DType::float32, {{.text = "a"}, {.text = "state.w.exp_avg"}});
  add_whole(checkpoint, "b.state.w", {1}, DType::float32, {{.text = "b"}, {.text = "state"}, {.text = "w"}});
  const Overview overview = overview_of(checkpoint.data(), {true, true});
  EXPECT_TRUE(overview.parts.at(0).has_flat_keys);
  EXPECT_FALSE(overview.parts.at(1).has_flat_keys);
}

TEST(Overview, RefusesSumsBeyond64Bits) {
  Checkpoint checkpoint;
  add_whole(checkpoint, "a", {INT64_MAX}, DType::uint8);
  add_whole(checkpoint, "b", {INT64_MAX}, DType::uint8);
  add_whole(checkpoint, "c", {INT64_MAX}, DType::uint8);
  const Error error = error_of([&] { overview_of(checkpoint.data(), {true, true, true}); });
  EXPECT_EQ(error.where().entry, "c");
}

}  // namespace
}  // namespace fsdpckpt
