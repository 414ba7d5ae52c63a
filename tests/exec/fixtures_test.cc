// Every sharded checkpoint of testdata, against the digests in its manifest.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/error_of.h"
#include "base/sha256.h"
#include "exec/consolidated.h"
#include "formats/manifest.h"

namespace fsdpckpt {
namespace {

void expect_as_in(const Manifest& manifest, const Tensors& tensors, bool all) {
  for (const ExpectedTensor& expected : manifest.tensors) {
    const auto found = tensors.find(expected.name);
    ASSERT_NE(found, tensors.end()) << expected.name;
    EXPECT_EQ(found->second.dtype, expected.dtype) << expected.name;
    EXPECT_EQ(found->second.shape, expected.shape) << expected.name;
    EXPECT_EQ(Sha256::hex(found->second.bytes), expected.sha256) << expected.name;
  }
  EXPECT_TRUE(!all || tensors.size() == manifest.tensors.size());
}

/// The manifest names the elements of lists, which are one object when there is no tensor or dict among them.
bool is_in(const std::set<std::string>& objects, const std::string& name) {
  return std::ranges::any_of(
      objects, [&](const std::string& object) { return name == object || name.starts_with(object + "."); });
}

class Fixtures : public testing::TestWithParam<Fixture> {};

TEST_P(Fixtures, ConsolidateToTheManifestsBytes) {
  const TempDir directory;
  consolidate_into(directory, GetParam().directory);
  const Manifest manifest = read_manifest(GetParam().manifest);
  ASSERT_FALSE(manifest.tensors.empty());
  const bool is_manifest = GetParam().manifest.ends_with("manifest.json");
  expect_as_in(manifest, read_tensors(directory.path("out.pt")), is_manifest);
  const std::set<std::string> objects = object_names(directory.path("out.pt"));
  for (const std::string& name : manifest.objects) EXPECT_TRUE(is_in(objects, name)) << name;
}

TEST_P(Fixtures, AreTheSameFileForAnyNumberOfThreadsAndAnyTile) {
  const std::string one = write_to_memory(GetParam().directory, {.threads = 1, .tile_bytes = 256 << 10});
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::uint64_t tile : {std::uint64_t{8192}, std::uint64_t{1} << 20})
      EXPECT_TRUE(write_to_memory(GetParam().directory, {.threads = threads, .tile_bytes = tile}) == one);
  }
}

INSTANTIATE_TEST_SUITE_P(TestData, Fixtures, testing::ValuesIn(fixtures()), fixture_name);

TEST(FixtureList, HoldsEveryCheckpointOfTestData) { EXPECT_GE(fixtures().size(), 12U); }

Error error_of_case(const std::string& name) {
  const TempDir directory;
  Error error = error_of([&] { consolidate_into(directory, test_data("cases/chunks-do-not-cover/" + name)); });
  EXPECT_TRUE(directory.names().empty());
  return error;
}

TEST(ChunksThatDoNotCover, AGapIsNamed) {
  const Error error = error_of_case("gap");
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().entry, "model.w");
  EXPECT_EQ(error.where().box, "[4:8, 0:4]");
}

TEST(ChunksThatDoNotCover, AnOverlapIsNamed) {
  const Error error = error_of_case("overlap");
  EXPECT_EQ(error.where().entry, "model.w");
  EXPECT_EQ(error.where().box, "[2:4, 0:4]");
}

TEST(ChunksThatDoNotCover, AChunkOutsideIsNamed) {
  const Error error = error_of_case("outside");
  EXPECT_EQ(error.where().entry, "model.w");
  EXPECT_EQ(error.where().box, "[6:10, 0:4]");
}

TEST(ChunksThatDoNotCover, AnotherEntryOfTheSameCheckpointIsNotInTheWay) {
  const TempDir directory;
  consolidate_into(directory, test_data("cases/chunks-do-not-cover/gap"), {.keep = {"model.ok"}});
  EXPECT_EQ(read_tensors(directory.path("out.pt")).size(), 1U);
}

}  // namespace
}  // namespace fsdpckpt
