// The forms of .metadata that torch 2.0 to 2.15 and Python 3.8 to 3.14 write: all say the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;

DcpBuilder two_tensors() {
  const TensorValues values = sample_values("bfloat16", {5, 7});
  DcpBuilder builder;
  builder.add("model.w", values, cut(values.shape, 0, 2), {"model", "w"});
  builder.add("optim.groups.0", sample_values("int64", {}), {{.offsets = {}, .sizes = {}}},
              {"optim", "groups", std::int64_t{0}});
  builder.add_object("epoch", object_item([](pickle::Writer& writer) { writer.integer(3); }));
  return builder;
}

Checkpoint open(const DcpBuilder& builder, const MetadataStyle& style = {}) {
  const TempDir directory;
  builder.write(directory, style);
  return open_dcp(directory.path());
}

void expect_two_tensors(const MetadataStyle& style) {
  const Checkpoint checkpoint = open(two_tensors(), style);
  ASSERT_EQ(checkpoint.entry_count(), 3U);
  const Entry w = checkpoint.entry(checkpoint.find("model.w"));
  EXPECT_EQ(w.dtype, DType::bfloat16);
  EXPECT_THAT(w.shape, ElementsAre(5, 7));
  ASSERT_EQ(w.chunk_count, 2U);
  const Chunk second = checkpoint.chunk(checkpoint.find("model.w"), 1);
  EXPECT_THAT(second.offsets, ElementsAre(3, 0));
  EXPECT_EQ(checkpoint.files()[second.extent.file].path, "__1_0.distcp");
  EXPECT_TRUE(checkpoint.chunk(checkpoint.find("optim.groups.0"), 0).is_stored);
  EXPECT_EQ(checkpoint.entry(checkpoint.find("epoch")).kind, EntryKind::object);
}

std::string writer_of(const MetadataStyle& style) { return open(two_tensors(), style).data().writer; }

TEST(MetadataForms, OldHomeOfTensorProperties) {
  expect_two_tensors({.old_home = true});
  EXPECT_EQ(writer_of({.old_home = true}), "DCP as written by torch 2.0 to 2.2");
}

TEST(MetadataForms, NewHomeOfTensorProperties) {
  expect_two_tensors({.old_home = false});
  EXPECT_EQ(writer_of({.old_home = false}), "DCP as written by torch 2.3");
}

TEST(MetadataForms, SixTensorProperties) {
  expect_two_tensors({.old_home = false, .has_strides = true});
  EXPECT_EQ(writer_of({.old_home = false, .has_strides = true}), "DCP of an unknown writer")
      << "torch 2.15 writes a version and storage_meta too";
}

TEST(MetadataForms, StorageDataBeforeTheTensors) { expect_two_tensors({.storage_data_first = true}); }

TEST(MetadataForms, NoHints) {
  expect_two_tensors({.hints = false});
  expect_two_tensors({.storage_data_first = true, .hints = false});
}

TEST(MetadataForms, AVersion) { expect_two_tensors({.old_home = false, .has_version = true}); }

TEST(MetadataForms, EnumsByGetattr) {
  expect_two_tensors({.old_home = false, .enums = MetadataStyle::Enum::getattr});
  expect_two_tensors({.old_home = true, .enums = MetadataStyle::Enum::getattr});
}

TEST(MetadataForms, EveryFormOfTheCheckpointId) {
  for (const auto path : {MetadataStyle::Path::parts, MetadataStyle::Path::one_part, MetadataStyle::Path::text}) {
    expect_two_tensors({.old_home = false, .checkpoint_id = path});
    EXPECT_EQ(writer_of({.old_home = false, .checkpoint_id = path}), "DCP as written by torch 2.4 to 2.6");
  }
}

std::string top_keys(const Checkpoint& checkpoint) {
  std::string keys;
  for (const StateTree::Child& child : checkpoint.data().tree.children(StateTree::kRoot))
    keys += std::string(child.key.text) + " ";
  return keys;
}

TEST(MetadataForms, PathsNest) { EXPECT_EQ(top_keys(open(two_tensors())), "model optim epoch "); }

TEST(MetadataForms, WithoutPlannerDataFlatNamesStandAtTheTop) {
  for (const auto planner : {MetadataStyle::Planner::none, MetadataStyle::Planner::absent}) {
    expect_two_tensors({.planner = planner});
    EXPECT_EQ(top_keys(open(two_tensors(), {.planner = planner})), "model.w optim.groups.0 epoch ");
  }
}

TEST(MetadataForms, AWrongHintIsCorrected) {
  DcpBuilder builder = two_tensors();
  builder.entries()[0].chunks[0].hint = 1;
  builder.entries()[0].chunks[1].hint = 55;
  const Checkpoint checkpoint = open(builder);
  EXPECT_EQ(checkpoint.files()[checkpoint.chunk(0, 1).extent.file].path, "__1_0.distcp");
  EXPECT_EQ(checkpoint.files()[checkpoint.chunk(0, 0).extent.file].path, "__0_0.distcp");
}

TEST(MetadataForms, TiedWeightsMayShareOneStoredItem) {
  for (const bool shared : {false, true}) {
    const TensorValues values = sample_values("float32", {4});
    DcpBuilder builder;
    builder.add("a", values, {{.offsets = {0}, .sizes = {4}}});
    builder.entries().push_back(builder.entries()[0]);
    builder.entries()[1].name = "b";
    const Checkpoint checkpoint = open(builder, {.shared_infos = shared});
    EXPECT_TRUE(checkpoint.chunk(1, 0).is_stored);
    EXPECT_EQ(checkpoint.chunk(0, 0).extent.offset, checkpoint.chunk(1, 0).extent.offset);
  }
}

TEST(MetadataForms, ShapesTooLargeToPackAreKept) {
  const std::int64_t huge = std::int64_t{1} << 60;
  const std::vector<std::int64_t> many(20, 1);
  DcpBuilder builder;
  builder.add("many", sample_values("int8", many), {{.offsets = std::vector<std::int64_t>(20, 0), .sizes = many}});
  builder.entries().push_back(
      {.name = "empty", .shape = {0, huge}, .chunks = {{.offsets = {0, 0}, .sizes = {0, huge}}}});
  builder.entries()[1].chunks[0].is_stored = false;
  const Checkpoint checkpoint = open(builder);
  EXPECT_THAT(checkpoint.entry(0).shape, testing::ElementsAreArray(many));
  EXPECT_TRUE(checkpoint.chunk(0, 0).is_stored);
  EXPECT_THAT(checkpoint.entry(1).shape, ElementsAre(0, huge));
  EXPECT_THAT(checkpoint.chunk(1, 0).sizes, ElementsAre(0, huge));
}

TEST(MetadataForms, StoredItemsOfNoListedChunkAreNoted) {
  DcpBuilder builder = two_tensors();
  builder.entries()[0].chunks[1].key_offsets = {{4, 0}};
  builder.entries()[0].chunks.push_back(builder.entries()[0].chunks[1]);
  builder.entries()[0].chunks[2].key_offsets.reset();
  builder.entries()[0].chunks[1].sizes = {0, 7};
  const Checkpoint checkpoint = open(builder);
  ASSERT_FALSE(checkpoint.notes().empty());
  EXPECT_THAT(checkpoint.notes()[0], testing::HasSubstr("1 stored items belong to no listed chunk"));
}

TEST(MetadataForms, OnlyOneZstdIsATransform) {
  DcpBuilder builder = two_tensors();
  for (const char* name : {"stream.zstd", "stream.zstd/1", "stream.zstd/1.2"}) {
    builder.entries()[0].chunks[0].transforms = {name};
    EXPECT_EQ(open(builder).chunk(0, 0).extent.encoding, Encoding::torch_zip_zstd) << name;
  }
}

}  // namespace
}  // namespace fsdpckpt
