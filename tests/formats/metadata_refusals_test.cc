// Hostile and broken .metadata, one test a threat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>

#include "base/error_of.h"
#include "base/text.h"
#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"

namespace fsdpckpt {
namespace {

using testing::HasSubstr;

DcpBuilder one_tensor() {
  const TensorValues values = sample_values("float32", {4, 2});
  DcpBuilder builder;
  builder.add("model.w", values, cut(values.shape, 0, 2));
  return builder;
}

Error error_of_opening(const DcpBuilder& builder, const MetadataStyle& style = {}) {
  const TempDir directory;
  builder.write(directory, style);
  return error_of([&] { open_dcp(directory.path()); });
}

/// What is wrong with a directory that can be opened.
Error damage_of(const TempDir& directory) {
  const Checkpoint checkpoint = open_dcp(directory.path());
  EXPECT_EQ(checkpoint.damages().size(), 1U);
  return checkpoint.damages().empty() ? Error(ErrorKind::bug, "no damage") : checkpoint.damages().front();
}

Error damage_of(const DcpBuilder& builder) {
  const TempDir directory;
  builder.write(directory);
  return damage_of(directory);
}

/// A .metadata that is this pickle.
Error error_of_pickle(const std::string& pickle) {
  const TempDir directory;
  directory.write(".metadata", pickle);
  return error_of([&] { open_dcp(directory.path()); });
}

/// The error when the only tensor was changed.
template <class Change>
Error error_after(Change change) {
  DcpBuilder builder = one_tensor();
  change(builder.entries()[0]);
  return error_of_opening(builder);
}

/// The damage when the only tensor was changed.
template <class Change>
Error damage_after(Change change) {
  DcpBuilder builder = one_tensor();
  change(builder.entries()[0]);
  return damage_of(builder);
}

void expect_input(const Error& error, const std::string& text) {
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr(text));
  EXPECT_FALSE(error.where().path.empty());
}

TEST(MetadataRefusals, AGlobalThatIsNotListedIsNamedWithItsOffset) {
  pickle::Writer writer;
  writer.global("os", "system");
  writer.text("touch pwned");
  writer.tuple(1);
  writer.reduce();
  const Error error = error_of_pickle(writer.finish());
  EXPECT_EQ(error.kind(), ErrorKind::refused);
  EXPECT_THAT(error.what(), HasSubstr("'os.system'"));
  EXPECT_THAT(error.where().path, testing::EndsWith("/.metadata"));
  EXPECT_EQ(error.where().offset, 2U) << "behind PROTO";
}

TEST(MetadataRefusals, GlobalsBesideListedOnesAreRefused) {
  for (const auto& [module, name] : {std::pair("torch", "load"),
                                     {"torch.serialization", "load"},
                                     {"builtins", "eval"},
                                     {"torch.distributed._shard.sharded_tensor.metadata", "Other"},
                                     {"collections", "Counter"},
                                     {"megatron", "x"}}) {
    pickle::Writer writer;
    writer.global(module, name);
    EXPECT_EQ(error_of_pickle(writer.finish()).kind(), ErrorKind::refused) << module << "." << name;
  }
}

TEST(MetadataRefusals, PathsThatLeaveTheDirectoryAreRefused) {
  for (const std::string& path : {std::string("../outside.bin"), std::string("/etc/passwd"), std::string("a/../../b"),
                                  std::string(".."), std::string("a\0b", 3), std::string()}) {
    const Error error = error_after([&](TestEntry& entry) { entry.chunks[1].file = path; });
    EXPECT_EQ(error.kind(), ErrorKind::refused) << path;
  }
}

TEST(MetadataRefusals, ADirectoryAsARankFileIsRefused) {
  const TempDir directory;
  DcpBuilder builder = one_tensor();
  builder.write(directory);
  directory.remove("__1_0.distcp");
  directory.make_dir("__1_0.distcp");
  EXPECT_EQ(damage_of(directory).kind(), ErrorKind::refused);
}

TEST(MetadataRefusals, WhatIsRefusedForSafetyComesFirst) {
  const TempDir directory;
  one_tensor().write(directory);
  directory.remove("__0_0.distcp");
  directory.remove("__1_0.distcp");
  directory.make_dir("__1_0.distcp");
  const Checkpoint checkpoint = open_dcp(directory.path());
  ASSERT_EQ(checkpoint.damages().size(), 2U);
  EXPECT_EQ(checkpoint.damages()[0].kind(), ErrorKind::refused);
  EXPECT_EQ(checkpoint.damages()[1].kind(), ErrorKind::input);
}

TEST(MetadataRefusals, NegativeNumbersAreRefused) {
  expect_input(error_after([](TestEntry& entry) { entry.shape = {-4, 2}; }), "non-negative");
  expect_input(error_after([](TestEntry& entry) { entry.chunks[0].sizes = {-2, 2}; }), "non-negative");
  expect_input(error_after([](TestEntry& entry) { entry.chunks[0].offsets = {-1, 0}; }), "non-negative");
  expect_input(error_after([](TestEntry& entry) { entry.chunks[0].offset = UINT64_MAX; }), "'offset'");
  expect_input(error_after([](TestEntry& entry) { entry.chunks[0].length = UINT64_MAX; }), "'length'");
}

TEST(MetadataRefusals, AnItemWhoseEndDoesNotFitSixtyFourBitsIsRefused) {
  expect_input(damage_after([](TestEntry& entry) {
                 entry.chunks[0].offset = INT64_MAX;
                 entry.chunks[0].length = INT64_MAX;
               }),
               "too short");
}

TEST(MetadataRefusals, MoreThanSixtyFourDimensionsAreRefused) {
  expect_input(error_after([](TestEntry& entry) { entry.shape.assign(65, 1); }), "65 dimensions");
}

TEST(MetadataRefusals, AChunkOfOtherDimensionsThanItsTensorIsRefused) {
  expect_input(error_after([](TestEntry& entry) {
                 entry.chunks[0].offsets = {0};
                 entry.chunks[0].sizes = {2};
               }),
               "number of dimensions");
}

TEST(MetadataRefusals, AChunkWhoseOffsetsAndSizesDifferInLengthIsRefused) {
  expect_input(error_after([](TestEntry& entry) { entry.chunks[0].sizes = {2}; }), "differ in length");
}

TEST(MetadataRefusals, AnUnknownDTypeIsRefused) {
  const Error error = error_after([](TestEntry& entry) { entry.dtype = "qint8"; });
  EXPECT_TRUE(error.kind() == ErrorKind::refused || error.kind() == ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("qint8"));
}

TEST(MetadataRefusals, AnUnknownTransformIsRefused) {
  for (const std::vector<std::string>& transforms :
       {std::vector<std::string>{"stream.lz4"}, {"stream.zstd/2"}, {""}, {"stream.zstd/1", "stream.zstd/1"}})
    expect_input(error_after([&](TestEntry& entry) { entry.chunks[0].transforms = transforms; }), "transform");
}

TEST(MetadataRefusals, AChunkStoredInNoFileIsRefused) {
  const Error error = damage_after([](TestEntry& entry) { entry.chunks[1].is_stored = false; });
  expect_input(error, "stored in no file");
  EXPECT_EQ(error.where().entry, "model.w");
  EXPECT_EQ(error.where().box, "[2:4, 0:2]");
}

TEST(MetadataRefusals, AnObjectStoredInNoFileIsRefused) {
  DcpBuilder builder;
  builder.add_object("epoch", object_item([](pickle::Writer& writer) { writer.none(); }));
  builder.entries()[0].chunks[0].is_stored = false;
  const Error error = damage_of(builder);
  expect_input(error, "stored in no file");
  EXPECT_EQ(error.where().entry, "epoch");
}

TEST(MetadataRefusals, AnEntryListedTwiceIsRefused) {
  DcpBuilder builder = one_tensor();
  builder.add_object("model.w", object_item([](pickle::Writer& writer) { writer.none(); }));
  const Error error = error_of_opening(builder);
  const std::string content = metadata_of(builder.entries()), key("X\7\0\0\0model.w", 12);  // BINUNICODE
  const std::size_t first = content.find(key);
  ASSERT_EQ(content[first + key.size()], 'q');                                             // BINPUT
  const std::size_t second = content.find({'h', content[first + key.size() + 1]}, first);  // BINGET of the same slot
  expect_input(error, cat("entry 'model.w' is listed twice, at byte ", first, " and at byte ", second));
  EXPECT_EQ(error.where().entry, "model.w");
}

TEST(MetadataRefusals, AChunkStoredTwiceIsRefused) {
  for (const bool storage_first : {false, true}) {
    DcpBuilder builder = one_tensor();
    builder.entries()[0].chunks[1].key_offsets = {{0, 0}};
    const Error error = error_of_opening(builder, {.storage_data_first = storage_first});
    expect_input(error, "stored twice");
    EXPECT_EQ(error.where().entry, "model.w");
  }
}

TEST(MetadataRefusals, AnItemPastTheEndOfItsFileIsRefused) {
  const Error error = damage_after([](TestEntry& entry) { entry.chunks[1].length += 1; });
  expect_input(error, "too short");
  EXPECT_EQ(error.where().entry, "model.w");
  EXPECT_EQ(error.where().box, "[2:4, 0:2]");
  EXPECT_THAT(error.where().path, testing::EndsWith("/__1_0.distcp"));
}

TEST(MetadataRefusals, MissingRankFilesAreAllNamed) {
  const TempDir directory;
  one_tensor().write(directory);
  directory.remove("__0_0.distcp");
  expect_input(damage_of(directory), "a rank file is missing: '__0_0.distcp'; 1 entry needs it");
  directory.remove("__1_0.distcp");
  expect_input(damage_of(directory), "2 rank files are missing: '__0_0.distcp', '__1_0.distcp'; 1 entry needs them");
}

TEST(MetadataRefusals, AnEmptyRankFileIsRefused) {
  const TempDir directory;
  one_tensor().write(directory);
  directory.write("__1_0.distcp", "");
  expect_input(damage_of(directory), "too short");
}

TEST(MetadataRefusals, AnEmptyMetadataFileIsRefused) { expect_input(error_of_pickle(""), "empty"); }

TEST(MetadataRefusals, AMetadataFileThatIsNoPickleIsRefused) { expect_input(error_of_pickle("{\"a\": 1}"), ""); }

TEST(MetadataRefusals, AnotherObjectIsRefused) {
  pickle::Writer writer;
  writer.empty_dict();
  expect_input(error_of_pickle(writer.finish()), "no DCP Metadata");
}

TEST(MetadataRefusals, EveryTruncationIsRefused) {
  const std::string whole = metadata_of(one_tensor().entries());
  const TempDir directory;
  one_tensor().write(directory);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    directory.remove(".metadata");  // much faster than to write over it
    directory.write(".metadata", whole.substr(0, size));
    EXPECT_EQ(error_of([&] { open_dcp(directory.path()); }).kind(), ErrorKind::input) << size;
  }
}

TEST(MetadataRefusals, BytesBehindTheEndAreRefused) {
  const TempDir directory;
  one_tensor().write(directory);
  directory.write(".metadata", metadata_of(one_tensor().entries()) + "x");
  expect_input(error_of([&] { open_dcp(directory.path()); }), "");
}

/// Either it opens, or it is refused as what it is: never a crash, never a bug.
TEST(MetadataRefusals, EveryFlippedBitIsAnErrorOrHarmless) {
  const TempDir directory;
  one_tensor().write(directory);
  std::string content = metadata_of(one_tensor().entries());
  for (std::size_t bit = 0; bit < content.size() * 8; ++bit) {
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ 1 << bit % 8);
    directory.remove(".metadata");
    directory.write(".metadata", content);
    try {
      open_dcp(directory.path());
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::input || error.kind() == ErrorKind::refused) << bit << error.what();
    }
    content[bit / 8] = static_cast<char>(content[bit / 8] ^ 1 << bit % 8);
  }
}

TEST(MetadataRefusals, PathsThatClashAreRefused) {
  DcpBuilder builder = one_tensor();
  builder.entries()[0].path = {"a"};
  builder.add_object("other", object_item([](pickle::Writer& writer) { writer.none(); }), {"a", "b"});
  expect_input(error_of_opening(builder), "two entries want the same place");
}

TEST(MetadataRefusals, AHugeListPositionIsRefused) {
  DcpBuilder builder = one_tensor();
  builder.entries()[0].path = {"a", std::int64_t{16'000'000}};
  EXPECT_EQ(error_of_opening(builder).kind(), ErrorKind::input);
}

TEST(MetadataRefusals, APathOfAMillionKeysIsRefused) {
  DcpBuilder builder = one_tensor();
  builder.entries()[0].path.assign(1'000'000, "a");
  EXPECT_EQ(error_of_opening(builder).kind(), ErrorKind::input);
}

}  // namespace
}  // namespace fsdpckpt
