#include "formats/file_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "formats/manifest.h"

namespace fsdpckpt {
namespace {

using State = FileUse::State;

/// The file `path` among the uses of `directory`.
FileUse use_of(const std::string& directory, const std::string& path) {
  for (const FileUse& use : file_uses(open_dcp(directory).data())) {
    if (use.path == path) return use;
  }
  ADD_FAILURE() << "no file " << path;
  return {};
}

TEST(FileUse, CountsWhatEntriesNeed) {
  const TempDir directory;
  const TensorValues values = sample_values("float32", {4, 2});
  DcpBuilder builder;
  builder.add("w", values, cut(values.shape, 0, 2));
  builder.write(directory);
  const FileUse whole = use_of(directory.path(), "__1_0.distcp");
  EXPECT_GT(whole.size, 0U);
  EXPECT_EQ(whole.referenced, whole.size);
  EXPECT_EQ(whole.unreferenced, 0U);
  EXPECT_EQ(whole.state, State::whole);
  EXPECT_FALSE(use_of(directory.path(), ".metadata").is_counted);

  directory.write("__1_0.distcp", std::string(whole.size + 5, 'x'));
  EXPECT_EQ(use_of(directory.path(), "__1_0.distcp").unreferenced, 5U);
  directory.write("__1_0.distcp", std::string(7, 'x'));
  const FileUse cut = use_of(directory.path(), "__1_0.distcp");
  EXPECT_EQ(cut.state, State::cut);
  EXPECT_EQ(cut.needed, whole.size);
  EXPECT_EQ(cut.referenced, whole.size);
  directory.remove("__1_0.distcp");
  EXPECT_EQ(use_of(directory.path(), "__1_0.distcp").state, State::missing);
  directory.write("__7_0.distcp", "stale");
  const FileUse stale = use_of(directory.path(), "__7_0.distcp");
  EXPECT_EQ(stale.state, State::unreferenced);
  EXPECT_EQ(stale.unreferenced, 5U);
}

// torch leaves no gap between items, so every byte of its rank files is some entry's.
TEST(FileUse, OfRealFilesIsTheWholeFile) {
  std::size_t files = 0;
  for (const char* name : {"torch-2.0.1/st_w2", "torch-2.13.0/fsdp2_zstd_w2", "torch-2.13.0/fsdp2_safetensors_w2",
                           "torch-2.13.0/fsdp2_perfile_w2", "torch-2.15.0/fsdp2_tp_2x2"}) {
    for (const FileUse& use : file_uses(open_dcp(test_data(name)).data())) {
      if (!use.is_counted) continue;
      ++files;
      EXPECT_EQ(use.referenced, use.size) << name << "/" << use.path;
    }
  }
  EXPECT_GT(files, 10U);
}

}  // namespace
}  // namespace fsdpckpt
