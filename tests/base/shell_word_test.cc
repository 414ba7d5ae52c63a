#include <gtest/gtest.h>

#include "base/text.h"

namespace fsdpckpt {
namespace {

TEST(ShellWord, LeavesPlainPathsAlone) {
  EXPECT_EQ(shell_word("checkpoints/step-1000"), "checkpoints/step-1000");
  EXPECT_EQ(shell_word("/a/b_c.pt"), "/a/b_c.pt");
}

TEST(ShellWord, QuotesWhatAShellWouldSplitOrExpand) {
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("a$(b)*"), "'a$(b)*'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("back\\slash"), "'back\\slash'");
  EXPECT_EQ(shell_word("naïve"), "'naïve'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, ShowsNoControlCharacterAndStillNamesTheFile) {
  EXPECT_EQ(shell_word("a\x1b[31m"), "$'a\\x1b[31m'");
  EXPECT_EQ(shell_word("it's\n"), "$'it\\'s\\x0a'");
  EXPECT_EQ(shell_word("\xff"), "$'\\xff'");
  EXPECT_EQ(shell_word("a\u202eb"), "$'a\\xe2\\x80\\xaeb'");
}

}  // namespace
}  // namespace fsdpckpt
