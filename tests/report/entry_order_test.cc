#include "report/entry_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoints.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;

std::vector<std::string> sorted(SortBy by) {
  Checkpoint checkpoint;
  add_whole(checkpoint, "m", {2, 3}, DType::float32);
  add_object(checkpoint, "object");
  add_tensor(checkpoint, "z", {8}, {{{0}, {4}}, {{4}, {4}}}, DType::bfloat16);
  add_whole(checkpoint, "a", {2, 2}, DType::float64);
  add_whole(checkpoint, "B", {10}, DType::bfloat16);
  std::vector<EntryId> entries = {0, 1, 2, 3, 4};
  sort_entries(checkpoint.data(), by, entries);
  std::vector<std::string> names;
  for (const EntryId id : entries) names.emplace_back(checkpoint.entry(id).name);
  return names;
}

TEST(EntryOrder, SortsEntries) {
  EXPECT_THAT(sorted(SortBy::stored), ElementsAre("m", "object", "z", "a", "B"));
  EXPECT_THAT(sorted(SortBy::name), ElementsAre("B", "a", "m", "object", "z"));
  EXPECT_THAT(sorted(SortBy::size), ElementsAre("a", "m", "B", "z", "object"));
  EXPECT_THAT(sorted(SortBy::dtype), ElementsAre("z", "B", "m", "a", "object"));
  EXPECT_THAT(sorted(SortBy::shape), ElementsAre("z", "B", "a", "m", "object"));
  EXPECT_THAT(sorted(SortBy::chunks), ElementsAre("z", "m", "object", "a", "B"));
}

}  // namespace
}  // namespace fsdpckpt
