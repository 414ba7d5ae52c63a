#include "pickle/memo.h"

#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

std::string one_pass(std::string_view pickle) {
  MemoryReader bytes(as_bytes(pickle));
  Values values;
  return TreeText(values).of(Machine().read(bytes, values));
}

void expect_both(std::string_view pickle, std::string_view text) {
  EXPECT_EQ(Tree(pickle).text(), text);
  EXPECT_EQ(one_pass(pickle), text);
}

TEST(Memo, GivesTheSameNode) {
  const Tree tree("]q\0h\0h\0\x87."s);
  const auto items = tree.values.items(tree.root);
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(items[1], items[2]);
}

TEST(Memo, NumbersMemoizeByTheSlotsBefore) { expect_both("(K\1\x94K\2\x94K\3\x94h\2h\0t."s, "(1, 2, 3, 3, 1)"); }

TEST(Memo, MixesPutAndMemoize) { expect_both("(K\1q\0K\2\x94h\1h\0t."s, "(1, 2, 2, 1)"); }

TEST(Memo, TakesTheLatestValueOfASlot) { expect_both("(K\1q\0h\0K\2q\0h\0t."s, "(1, 1, 2, 2)"); }

TEST(Memo, TakesSlotsInAnyOrder) { expect_both("(K\1q\5K\2q\2K\3q\0h\5h\2h\0t."s, "(1, 2, 3, 1, 2, 3)"); }

TEST(Memo, TakesAnOutOfOrderSlotAgain) { expect_both("(K\1q\1K\2q\0K\3q\1h\1h\0t."s, "(1, 2, 3, 3, 2)"); }

TEST(Memo, HoldsTheHighestSlotCheaply) {
  const std::string pickle = "(K\1r\xff\xff\xff\xffK\2r\xfe\xff\xff\xffj\xff\xff\xff\xffj\xfe\xff\xff\xfft."s;
  expect_both(pickle, "(1, 2, 1, 2)");
  EXPECT_LT(Tree(pickle).machine.peak_memory(), 10000);
}

TEST(Memo, ReadsOfHighSlotsAreCheap) {
  EXPECT_THROW(Tree("(Nj\xff\xff\xff\xfft."s, nullptr, {.memory = 100000}), Error);
}

TEST(Memo, HoldsCycles) {
  const Tree tree("]q\0h\0a."s);
  EXPECT_EQ(tree.values.items(tree.root)[0], tree.root);
}

TEST(Memo, ThousandsOfSlotsReadAgain) {
  std::string pickle = "(";
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    pickle += {'M', static_cast<char>(i & 255), static_cast<char>(i >> 8), '\x94'};
    if (i % 7 == 0) pickle += {'j', static_cast<char>(i & 255), static_cast<char>(i >> 8), 0, 0};
    expected += std::to_string(i) + ", " + (i % 7 == 0 ? std::to_string(i) + ", " : "");
  }
  for (int i = 0; i < 3000; i += 3) {
    pickle += {'j', static_cast<char>(i & 255), static_cast<char>(i >> 8), 0, 0};
    expected += std::to_string(i) + ", ";
  }
  expect_both(pickle + "t.", "(" + expected.substr(0, expected.size() - 2) + ")");
}

}  // namespace
}  // namespace fsdpckpt::pickle
