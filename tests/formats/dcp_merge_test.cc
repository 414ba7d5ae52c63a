// Rank-local metadata: every rank's own file, joined.
#include "formats/dcp_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;

/// Writes the files of one rank and its metadata.
void write_rank(const TempDir& directory, int rank, DcpBuilder& builder) {
  const std::string number = std::to_string(rank);
  directory.write("__" + number + "_0.distcp", builder.file(rank));
  directory.write("__" + number + ".metadata", metadata_of(builder.entries()));
}

DcpBuilder rank_part(int rank, const std::string& dtype, std::vector<std::int64_t> shape) {
  const TensorValues values = sample_values(dtype, shape);
  DcpBuilder builder;
  builder.add("w", values, {cut(shape, 0, 2)[static_cast<std::size_t>(rank)]}, {"model", "w"});
  return builder;
}

TEST(MergeRanks, JoinsTheChunksOfAllRanks) {
  const TempDir directory;
  for (int rank : {0, 1}) {
    DcpBuilder builder = rank_part(rank, "float32", {5, 2});
    write_rank(directory, rank, builder);
  }
  const Checkpoint checkpoint = open_dcp(directory.path());
  ASSERT_EQ(checkpoint.entry_count(), 1U);
  ASSERT_EQ(checkpoint.entry(0).chunk_count, 2U);
  EXPECT_THAT(checkpoint.chunk(0, 1).offsets, ElementsAre(3, 0));
  EXPECT_EQ(checkpoint.files()[checkpoint.chunk(0, 1).extent.file].path, "__1_0.distcp");
  const StateTree& tree = checkpoint.data().tree;
  EXPECT_EQ(tree.entry(tree.child(tree.child(StateTree::kRoot, "model"), "w")), 0U);
}

TEST(MergeRanks, ReadsRanksInTheOrderOfTheirNumbers) {
  const TempDir directory;
  const TensorValues values = sample_values("float32", {11});
  for (int rank = 0; rank < 11; ++rank) {
    DcpBuilder builder;
    builder.add("w", values, {cut(values.shape, 0, 11)[static_cast<std::size_t>(rank)]});
    write_rank(directory, rank, builder);
  }
  const Checkpoint checkpoint = open_dcp(directory.path());
  for (std::uint64_t i = 0; i < 11; ++i)
    EXPECT_THAT(checkpoint.chunk(0, i).offsets, ElementsAre(static_cast<std::int64_t>(i)));
}

TEST(MergeRanks, KeepsEntriesThatOnlyOneRankHas) {
  const TempDir directory;
  for (int rank : {0, 1}) {
    const TensorValues values = sample_values("float32", {2});
    DcpBuilder builder;
    builder.add("only." + std::to_string(rank), values, {{.offsets = {0}, .sizes = {2}, .rank = rank}});
    write_rank(directory, rank, builder);
  }
  EXPECT_EQ(open_dcp(directory.path()).entry_count(), 2U);
}

TEST(MergeRanks, KeepsEveryRanksCopyOfAnObject) {
  const TempDir directory;
  for (int rank : {0, 1}) {
    DcpBuilder builder;
    builder.add_object("rng", object_item([&](pickle::Writer& writer) { writer.integer(rank); }));
    builder.entries()[0].chunks[0].file = "__" + std::to_string(rank) + "_0.distcp";
    builder.file(rank) = builder.file(0);
    write_rank(directory, rank, builder);
  }
  const Checkpoint checkpoint = open_dcp(directory.path());
  ASSERT_EQ(checkpoint.entry(0).chunk_count, 2U);
  EXPECT_EQ(checkpoint.files()[checkpoint.chunk(0, 0).extent.file].path, "__0_0.distcp");
  EXPECT_EQ(checkpoint.files()[checkpoint.chunk(0, 1).extent.file].path, "__1_0.distcp");
}

void expect_disagreement(DcpBuilder first, DcpBuilder second) {
  const TempDir directory;
  write_rank(directory, 0, first);
  write_rank(directory, 1, second);
  const Error error = error_of([&] { open_dcp(directory.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), testing::HasSubstr("ranks disagree"));
  EXPECT_EQ(error.where().entry, "w");
}

TEST(MergeRanks, RefusesRanksThatDisagreeAboutADType) {
  expect_disagreement(rank_part(0, "float32", {4}), rank_part(1, "int32", {4}));
}

TEST(MergeRanks, RefusesRanksThatDisagreeAboutAShape) {
  expect_disagreement(rank_part(0, "float32", {4}), rank_part(1, "float32", {6}));
}

TEST(MergeRanks, RefusesRanksThatDisagreeAboutAKind) {
  DcpBuilder object;
  object.add_object("w", object_item([](pickle::Writer& writer) { writer.none(); }));
  expect_disagreement(rank_part(0, "float32", {4}), std::move(object));
}

TEST(MergeRanks, PrefersTheCommonMetadata) {
  const TempDir directory;
  const TensorValues values = sample_values("float32", {4});
  DcpBuilder builder;
  builder.add("w", values, cut(values.shape, 0, 2));
  builder.write(directory);
  directory.write("__0.metadata", "left by another save");
  EXPECT_EQ(open_dcp(directory.path()).entry(0).chunk_count, 2U);
}

}  // namespace
}  // namespace fsdpckpt
