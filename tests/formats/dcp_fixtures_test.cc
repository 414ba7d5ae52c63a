// The index of every sharded checkpoint of testdata, against its manifest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "formats/dcp_reader.h"
#include "formats/manifest.h"
#include "io/temp_dir.h"
#include "model/checkpoint_data.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

/// Tensors of meta.pt lie inside its object entries.
bool is_in_meta(const Checkpoint& checkpoint, const std::string& name) {
  return std::ranges::any_of(checkpoint.data().parts, [&](const auto& part) {
    return (name + ".").starts_with(std::string(checkpoint.entry(part.first).name) + ".");
  });
}

class DcpFixtures : public testing::TestWithParam<Fixture> {};

TEST_P(DcpFixtures, HoldTheManifestsTensors) {
  const Checkpoint checkpoint = open_dcp(GetParam().directory);
  for (const ExpectedTensor& expected : read_manifest(GetParam().manifest).tensors) {
    if (is_in_meta(checkpoint, expected.name)) continue;
    const EntryId id = checkpoint.find(expected.name);
    ASSERT_LT(id, checkpoint.entry_count()) << expected.name;
    const Entry entry = checkpoint.entry(id);
    EXPECT_EQ(entry.kind, EntryKind::tensor) << expected.name;
    EXPECT_EQ(name(entry.dtype), expected.dtype) << expected.name;
    EXPECT_THAT(entry.shape, testing::ElementsAreArray(expected.shape)) << expected.name;
    EXPECT_TRUE(cover(checkpoint.data().index, id).problems.empty()) << expected.name;
  }
}

TEST_P(DcpFixtures, HoldNoOtherTensors) {
  if (GetParam().manifest.ends_with("case.json")) return;  // cases name the entries that matter only
  const Checkpoint checkpoint = open_dcp(GetParam().directory);
  std::size_t tensors = 0;
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id)
    tensors += checkpoint.entry(id).kind == EntryKind::tensor ? 1 : 0;
  std::vector<ExpectedTensor> expected = read_manifest(GetParam().manifest).tensors;
  std::erase_if(expected, [&](const ExpectedTensor& tensor) { return is_in_meta(checkpoint, tensor.name); });
  EXPECT_EQ(tensors, expected.size());
}

TEST_P(DcpFixtures, StoreEveryEntryInsideTheirFiles) {
  const Checkpoint checkpoint = open_dcp(GetParam().directory);
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id) {
    if (checkpoint.data().parts.contains(id)) continue;  // of meta.pt
    for (std::uint64_t i = 0; i < checkpoint.entry(id).chunk_count; ++i) {
      const Chunk chunk = checkpoint.chunk(id, i);
      ASSERT_TRUE(chunk.is_stored) << checkpoint.entry(id).name;
      EXPECT_LE(chunk.extent.offset + chunk.extent.length, checkpoint.files().at(chunk.extent.file).size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TestData, DcpFixtures, testing::ValuesIn(fixtures()), fixture_name);

std::string writer_of(const std::string& name) { return open_dcp(test_data(name)).data().writer; }

TEST(DcpWriters, AreToldByTheirFields) {
  EXPECT_EQ(writer_of("torch-2.0.1/st_w2"), "DCP as written by torch 2.0 to 2.2");
  EXPECT_EQ(writer_of("torch-2.4.1/dt_s0_w2"), "DCP as written by torch 2.4 to 2.6");
  EXPECT_EQ(writer_of("torch-2.13.0/dt_rs0_2x2"), "DCP as written by torch 2.9 to 2.14");
  EXPECT_EQ(writer_of("torch-2.15.0/fsdp2_tp_2x2"), "DCP as written by torch 2.15 or later");
  EXPECT_EQ(writer_of("torch-2.13.0/fsdp2_zstd_w2"), "DCP as written by torch 2.9 to 2.14");
  EXPECT_EQ(writer_of("cases/rank-local-metadata/ckpt"),
            "DCP with rank-local metadata as written by torch 2.9 to 2.14");
}

TEST(DcpWriters, AreToldByTheMetadataAlone) {
  const TempDir directory;
  std::ifstream file(test_data("torch-2.2.2/dt_s1_w2.metadata"), std::ios::binary);
  directory.write(".metadata", std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(open_dcp(directory.path()).data().writer, "DCP as written by torch 2.0 to 2.2");
}

TEST(DcpWriters, OfCompressedItemsAreKnown) {
  const Checkpoint checkpoint = open_dcp(test_data("torch-2.13.0/fsdp2_zstd_w2"));
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id)
    EXPECT_EQ(checkpoint.chunk(id, 0).extent.encoding, Encoding::torch_zip_zstd) << checkpoint.entry(id).name;
}

}  // namespace
}  // namespace fsdpckpt
