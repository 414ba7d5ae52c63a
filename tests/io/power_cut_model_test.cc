#include "io/power_cut_model.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

using Folder = PowerCutModel::Folder;

/// Every folder that turns up in many cuts.
std::set<Folder> found_after(const PowerCutModel& model) {
  std::mt19937 random(1);
  std::set<Folder> found{model.names_without_content()};
  for (int i = 0; i < 500; ++i) found.insert(model.after_cut(random));
  return found;
}

TEST(PowerCutModel, WhatIsSyncedStays) {
  PowerCutModel model;
  const auto file = model.create("a");
  model.write(file, 0, "content");
  model.sync(file);
  model.sync_folder();
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"a", "content"}}}));
}

TEST(PowerCutModel, ANewNameMayBeMissingUntilItsFolderIsSynced) {
  PowerCutModel model;
  model.sync(model.create("a"));
  EXPECT_EQ(found_after(model), (std::set<Folder>{{}, {{"a", ""}}}));
}

TEST(PowerCutModel, ANameMayBeThereBeforeItsContent) {
  PowerCutModel model;
  model.put("b", "old");
  model.write(model.create("a"), 0, "new");
  model.rename("a", "b");
  model.sync_folder();
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"b", ""}}, {{"b", std::string(3, '\0')}}, {{"b", "new"}}}));
}

TEST(PowerCutModel, ARenameIsDoneOrNotUntilItsFolderIsSynced) {
  PowerCutModel model;
  model.put("a", "new");
  model.put("b", "old");
  model.rename("a", "b");
  EXPECT_EQ(
      found_after(model),
      (std::set<Folder>{{{"b", "old"}}, {{"b", "new"}}, {{"a", "new"}, {"b", "old"}}, {{"a", "new"}, {"b", "new"}}}));
}

TEST(PowerCutModel, AnUnlinkedNameMayComeBack) {
  PowerCutModel model;
  model.put("a", "x");
  model.unlink("a");
  EXPECT_EQ(found_after(model), (std::set<Folder>{{}, {{"a", "x"}}}));
}

TEST(PowerCutModel, EachSectorIsWrittenOrNot) {
  PowerCutModel model;
  const auto file = model.put("a", std::string(1024, 'o'));
  model.write(file, 0, std::string(1024, 'n'));
  const std::string o(512, 'o');
  const std::string n(512, 'n');
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"a", o + o}}, {{"a", o + n}}, {{"a", n + o}}, {{"a", n + n}}}));
}

TEST(PowerCutModel, ReservedSpaceReadsAsZeros) {
  PowerCutModel model;
  const auto file = model.put("a", "");
  model.resize(file, 3);
  model.sync(file);
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"a", std::string(3, '\0')}}}));
}

TEST(PowerCutModel, ASyncAfterAFailedOneDoesNotBringBackWhatWasDropped) {
  PowerCutModel model;
  const auto file = model.put("a", "old");
  model.write(file, 0, "new");
  model.fail_sync(file);
  model.sync(file);
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"a", "old"}}, {{"a", "new"}}}));
  model.write(file, 0, "new");
  model.sync(file);
  EXPECT_EQ(found_after(model), (std::set<Folder>{{{"a", "new"}}}));
}

}  // namespace
}  // namespace fsdpckpt
