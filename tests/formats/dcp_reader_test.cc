#include "formats/dcp_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "formats/dcp_builder.h"

namespace fsdpckpt {
namespace {

using testing::UnorderedElementsAre;

std::vector<std::string> file_names(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const SourceFile& file : checkpoint.files()) names.push_back(file.path);
  return names;
}

DcpBuilder one_tensor() {
  const TensorValues values = sample_values("float32", {4, 2});
  DcpBuilder builder;
  builder.add("model.w", values, cut(values.shape, 0, 2));
  return builder;
}

TEST(OpenDcp, SaysWhatItIs) {
  const TempDir directory;
  one_tensor().write(directory);
  const Checkpoint checkpoint = open_dcp(directory.path());
  EXPECT_EQ(checkpoint.kind(), "sharded checkpoint");
  EXPECT_EQ(checkpoint.root(), directory.path());
  EXPECT_THAT(file_names(checkpoint), UnorderedElementsAre(".metadata", "__0_0.distcp", "__1_0.distcp"));
}

TEST(OpenDcp, TakesMetadataFromMemory) {
  const TempDir directory;
  one_tensor().write(directory);
  const std::string metadata = directory.read(".metadata");
  directory.remove(".metadata");
  const Checkpoint checkpoint = open_dcp(directory.path(), MemorySource(as_bytes(metadata), "there"));
  EXPECT_EQ(checkpoint.entry_count(), 1U);
  EXPECT_THAT(file_names(checkpoint), UnorderedElementsAre("__0_0.distcp", "__1_0.distcp"));
  const MemorySource cut(as_bytes(metadata).first(20), "there");
  EXPECT_EQ(error_of([&] { open_dcp(directory.path(), cut); }).where().path, "there");
}

TEST(OpenDcp, NeedsMetadata) {
  const TempDir directory;
  directory.write("__0_0.distcp", "x");
  EXPECT_EQ(error_of([&] { open_dcp(directory.path()); }).kind(), ErrorKind::input);
}

TEST(OpenDcp, NotesRankFilesThatAreNotReferenced) {
  const TempDir directory;
  one_tensor().write(directory);
  directory.write("__5_0.distcp", "from an earlier save");
  directory.write("__6_0.distcp", "");
  const Checkpoint checkpoint = open_dcp(directory.path());
  ASSERT_EQ(checkpoint.notes().size(), 1U);
  EXPECT_EQ(checkpoint.notes()[0], "not referenced by the metadata, left alone: '__5_0.distcp'");
}

TEST(OpenDcp, NeedsNoFileForARankWithoutItems) {
  const TempDir directory;
  const TensorValues values = sample_values("float32", {4, 2});
  DcpBuilder builder;
  builder.add("w", values, {{.offsets = {0, 0}, .sizes = {4, 2}, .rank = 3}});
  builder.write(directory);
  EXPECT_THAT(file_names(open_dcp(directory.path())), UnorderedElementsAre(".metadata", "__3_0.distcp"));
}

TEST(OpenDcp, AnEmptyChunkNeedsNoStoredItem) {
  const TempDir directory;
  DcpBuilder builder = one_tensor();
  builder.entries()[0].chunks.push_back({.offsets = {4, 0}, .sizes = {0, 2}, .is_stored = false});
  builder.write(directory);
  EXPECT_EQ(open_dcp(directory.path()).entry(0).chunk_count, 3U);
}

TEST(IsDcp, KnowsMetadataAndRankLocalMetadata) {
  for (const auto& [name, expected] : {std::pair(".metadata", true),
                                       {"__0.metadata", true},
                                       {"__12.metadata", true},
                                       {"__.metadata", false},
                                       {"__x.metadata", false},
                                       {"__0.metadata.tmp", false},
                                       {".metadata.tmp", false},
                                       {"metadata", false}}) {
    const TempDir directory;
    directory.write(name, "x");
    EXPECT_EQ(is_dcp(FileSet(directory.path())), expected) << name;
  }
}

}  // namespace
}  // namespace fsdpckpt
