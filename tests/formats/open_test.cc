// What a path holds is found by content.
#include <fsdpckpt/open.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "formats/dcp_builder.h"
#include "formats/manifest.h"

namespace fsdpckpt {
namespace {

using testing::HasSubstr;

class Open : public testing::Test {
 protected:
  void write_checkpoint(const std::string& folder) {
    const TensorValues values = sample_values("int8", {2});
    DcpBuilder builder;
    builder.add("w", values, cut(values.shape, 0, 1));
    builder.write(directory_, folder);
  }
  Error error_of_opening(const std::string& name) {
    Error error = error_of([&] { open_checkpoint(directory_.path(name)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.where().path, HasSubstr(name));
    return error;
  }

  TempDir directory_;
};

TEST_F(Open, ADirectoryWithMetadataIsAShardedCheckpoint) {
  write_checkpoint("ck");
  EXPECT_EQ(open_checkpoint(directory_.path("ck")).kind(), "sharded checkpoint");
  EXPECT_EQ(open_checkpoint(directory_.path("ck/")).entry_count(), 1U);
}

TEST_F(Open, AnArchiveIsATorchFileWhateverItsName) {
  directory_.write("notes.txt", tensor_item({.shape = {2}, .storage = std::string(8, 'x')}));
  EXPECT_EQ(open_checkpoint(directory_.path("notes.txt")).kind(), "torch file");
}

TEST_F(Open, NothingThereIsSaidSo) { EXPECT_THAT(error_of_opening("nothing").what(), HasSubstr("no such file")); }

TEST_F(Open, AnUnfinishedSaveIsSaidSo) {
  directory_.make_dir("ck");
  directory_.write("ck/__0_0.distcp", "x");
  directory_.write("ck/.metadata.tmp", "x");
  EXPECT_THAT(error_of_opening("ck").what(), HasSubstr("unfinished save"));
}

TEST_F(Open, RankFilesWithoutMetadataAreSaidSo) {
  directory_.make_dir("ck");
  directory_.write("ck/__0_0.distcp", "x");
  EXPECT_THAT(error_of_opening("ck").what(), HasSubstr("no .metadata"));
}

TEST_F(Open, CheckpointsInsideAreHinted) {
  write_checkpoint("run/step-100");
  const Error error = error_of_opening("run");
  EXPECT_THAT(error.what(), HasSubstr("step-100"));
  EXPECT_THAT(error.hint(), HasSubstr("fsdpckpt inspect"));
}

TEST_F(Open, AnEmptyDirectoryIsNoCheckpoint) {
  directory_.make_dir("empty");
  EXPECT_THAT(error_of_opening("empty").what(), HasSubstr("the directory is empty"));
}

TEST_F(Open, OneFileOfAShardedCheckpointIsNotTheWhole) {
  write_checkpoint("ck");
  EXPECT_THAT(error_of_opening("ck/__0_0.distcp").what(), HasSubstr("one file of a sharded checkpoint"));
  error_of_opening("ck/.metadata");
}

TEST_F(Open, FilesThatAreTooShortAreRefused) {
  for (const char* content : {"", "PK", "PK\3\4"}) {
    directory_.write("short.pt", content);
    error_of_opening("short.pt");
  }
}

TEST_F(Open, OtherFilesAreRefused) {
  directory_.write("text", "just some text that is long enough to be looked at");
  error_of_opening("text");
}

TEST(OpenTestData, TheFormFromBefore16IsNamed) {
  const Error error = error_of([] { open_checkpoint(test_data("torch-2.13.0/full/layouts_legacy.pt")); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("1.6"));
}

}  // namespace
}  // namespace fsdpckpt
