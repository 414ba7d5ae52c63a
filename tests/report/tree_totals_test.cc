#include "report/tree_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoints.h"
#include "report/tree_paths.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;

/// model: {a.b, c}; groups: [{lr}, {lr}]; step
struct Sample {
  Sample() {
    add_whole(checkpoint, "model.a.b", {4}, DType::float32, {{.text = "model"}, {.text = "a.b"}});
    add_whole(checkpoint, "model.c", {2}, DType::float64, {{.text = "model"}, {.text = "c"}});
    for (std::int64_t i = 0; i < 2; ++i) {
      add_object(checkpoint, "groups." + std::to_string(i) + ".lr",
                 {{.text = "groups"}, {.number = i, .is_number = true}, {.text = "lr"}});
    }
    add_object(checkpoint, "step");
  }
  Checkpoint checkpoint;
};

std::vector<std::string> rows(const std::vector<bool>& selected) {
  const Sample sample;
  std::vector<std::string> rows;
  for (const TreeRow& row : tree_totals(sample.checkpoint.data(), selected)) {
    rows.push_back(std::string(row.depth, ' ') + row.name + " " + std::to_string(row.totals.tensors) + " " +
                   std::to_string(row.totals.objects) + " " + std::to_string(row.totals.elements) + " " +
                   std::to_string(row.totals.bytes));
  }
  return rows;
}

TEST(TreeTotals, SumUpEachDictAndList) {
  EXPECT_THAT(rows({true, true, true, true, true}),
              ElementsAre("model 2 0 6 32", "groups 0 2 0 0", " [0] 0 1 0 0", " [1] 0 1 0 0"));
}

TEST(TreeTotals, LeaveOutWhatIsNotSelected) {
  EXPECT_THAT(rows({false, true, false, true, false}), ElementsAre("model 1 0 2 16", "groups 0 1 0 0", " [1] 0 1 0 0"));
}

TEST(Overview, SumsUpTheTopLevelParts) {
  const Sample sample;
  const Overview overview = overview_of(sample.checkpoint.data(), {true, true, true, false, true});
  ASSERT_EQ(overview.parts.size(), 3U);
  EXPECT_EQ(overview.parts[0].name, "model");
  EXPECT_EQ(overview.parts[0].totals.bytes, 32U);
  EXPECT_EQ(overview.parts[1].totals.objects, 1U);
  EXPECT_TRUE(overview.parts[2].is_top);
  EXPECT_EQ(overview.parts[2].totals.objects, 1U);
}

TEST(TreePaths, AreThoseOfTheStateDict) {
  const Sample sample;
  const TreePaths paths(sample.checkpoint.data().tree);
  const std::vector<Key> path = paths.path(3);
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[0].text, "groups");
  EXPECT_TRUE(path[1].is_number);
  EXPECT_EQ(path[1].number, 1);
  EXPECT_EQ(path[2].text, "lr");
  EXPECT_EQ(paths.path(0).at(1).text, "a.b") << "a key with a dot is one key";
}

}  // namespace
}  // namespace fsdpckpt
