#include <gtest/gtest.h>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::string_view kCommands[] = {"inspect", "verify", "consolidate", "diff"};

TEST(Nearest, FindsAWordWithAMissingWrongOrExtraLetter) {
  EXPECT_EQ(nearest("inspct", kCommands), "inspect");
  EXPECT_EQ(nearest("verafy", kCommands), "verify");
  EXPECT_EQ(nearest("difff", kCommands), "diff");
}

TEST(Nearest, ASwapOfNeighboursIsOneEdit) {
  constexpr std::string_view kWords[] = {"axxx", "badc"};  // "badc" is two swaps from "abcd"; "axxx" is three changes
  EXPECT_EQ(nearest("abcd", kWords), "badc");
}

TEST(Nearest, TheNearestOfSeveralWins) {
  constexpr std::string_view kWords[] = {"layer.11", "layer.1", "layer.2"};
  EXPECT_EQ(nearest("layer.1x", kWords), "layer.11");
}

TEST(Nearest, AnEqualWordWins) {
  constexpr std::string_view kWords[] = {"a", "ab"};
  EXPECT_EQ(nearest("ab", kWords), "ab");
}

TEST(Nearest, NothingIsNearerThanTheLimit) {
  EXPECT_EQ(nearest("merge", kCommands), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Nearest, LongWordsMayDifferByAThird) {
  constexpr std::string_view kWords[] = {"consolidate"};
  EXPECT_EQ(nearest("consolidXXX", kWords), "consolidate");
  EXPECT_EQ(nearest("consoliXXXXX", kWords), "");
}

}  // namespace
}  // namespace fsdpckpt
