#include <gtest/gtest.h>

#include "io/atomic_file.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

void expect_nested(const std::string& a, const std::string& b, bool expected) {
  EXPECT_EQ(same_or_nested(a, b), expected) << a << " and " << b;
  EXPECT_EQ(same_or_nested(b, a), expected) << b << " and " << a;
}

/// A checkpoint directory with one file and a sibling file.
class SameOrNested : public testing::Test {
 protected:
  SameOrNested() {
    dir_.make_dir("ckpt/sub");
    dir_.write("ckpt/file", "x");
    dir_.write("other", "y");
  }
  [[nodiscard]] std::string path(std::string_view name) const { return dir_.path(name); }

  TempDir dir_;
};

TEST_F(SameOrNested, APathIsTheSameAsItself) {
  expect_nested(path("ckpt"), path("ckpt"), true);
  expect_nested(path("ckpt"), path("ckpt/"), true);
  expect_nested(path("ckpt"), path("ckpt/sub/.."), true);
  expect_nested(path("ckpt/file"), path("ckpt/./file"), true);
}

TEST_F(SameOrNested, AFileInADirectoryIsNested) { expect_nested(path("ckpt"), path("ckpt/file"), true); }

TEST_F(SameOrNested, ANewFileInADirectoryIsNested) {
  expect_nested(path("ckpt"), path("ckpt/new.pt"), true);
  expect_nested(path("ckpt"), path("ckpt/new/deep/out.pt"), true);
}

TEST_F(SameOrNested, SiblingsAreNotNested) {
  expect_nested(path("ckpt"), path("other"), false);
  expect_nested(path("ckpt"), path("new.pt"), false);
  expect_nested(path("ckpt/file"), path("ckpt/new.pt"), false);
  expect_nested(path("ckpt"), path("ckpt2"), false);
}

TEST_F(SameOrNested, NewPathsAreComparedByName) {
  expect_nested(path("new"), path("new"), true);
  expect_nested(path("new"), path("new/out.pt"), true);
  expect_nested(path("new"), path("new2"), false);
  expect_nested(path("new"), path("ckpt/new"), false);
}

TEST_F(SameOrNested, SymbolicLinksAreFollowed) {
  dir_.link("ckpt", "link");
  expect_nested(path("ckpt"), path("link"), true);
  expect_nested(path("ckpt"), path("link/new.pt"), true);
  expect_nested(path("link"), path("ckpt/file"), true);
}

TEST_F(SameOrNested, HardLinksAreTheSameFile) {
  std::filesystem::create_hard_link(path("other"), path("twin"));
  expect_nested(path("other"), path("twin"), true);
}

TEST_F(SameOrNested, IsOneOfIsAboutFilesThatExist) {
  std::filesystem::create_hard_link(path("other"), path("twin"));
  EXPECT_TRUE(is_one_of(path("other"), {path("ckpt/file"), path("twin")}));
  std::filesystem::create_symlink("other", path("link"));
  EXPECT_TRUE(is_one_of(path("link"), {path("twin")}));
  EXPECT_FALSE(is_one_of(path("other"), {path("ckpt/file")}));
  for (const std::string& missing : {path("none"), path("other/none"), path(std::string(5000, 'a'))})
    EXPECT_FALSE(is_one_of(missing, {missing}));
}

TEST_F(SameOrNested, AFileWithAHardLinkInADirectoryIsNotNested) {
  std::filesystem::create_hard_link(path("other"), path("ckpt/twin"));
  expect_nested(path("ckpt"), path("other"), false);
}

TEST_F(SameOrNested, RelativePathsStartAtTheWorkingDirectory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path("ckpt"));
  expect_nested(path("ckpt"), "new.pt", true);
  expect_nested(path("other"), "new.pt", false);
  expect_nested("new.pt", "./new.pt", true);
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace fsdpckpt
