#include "pickle/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"
#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

TEST(Machine, NeedsNoProtoOpcode) { EXPECT_EQ(Tree("K\x07."s).text(), "7"); }

TEST(Machine, LeavesWhatIsBehindStopToTheReader) {
  const std::string pickles = "K\x01.K\x02.rest";
  MemoryReader bytes(as_bytes(pickles));
  Machine machine;
  Values values;
  EXPECT_EQ(values.integer(machine.read(bytes, values)), 1);
  EXPECT_EQ(bytes.offset(), 3);
  EXPECT_EQ(values.integer(machine.read(bytes, values)), 2);
  EXPECT_EQ(bytes.offset(), 6);
}

TEST(Machine, RefusesBytesBehindStopOfAWholeSource) {
  const Error error = error_of([] { Tree("K\x01.K"s); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "1 bytes behind the end of the pickle");
  EXPECT_EQ(error.where().offset, 3);
}

TEST(Machine, AddsToTheValuesThatAreThere) {
  Machine machine;
  Values values;
  const NodeId first = machine.read(MemorySource(as_bytes("(K\x01K\x02t."s)), values);
  const NodeId second = machine.read(MemorySource(as_bytes("X\x03\0\0\0abc."s)), values);
  EXPECT_EQ(TreeText(values).of(first), "(1, 2)");
  EXPECT_EQ(TreeText(values).of(second), "'abc'");
}

TEST(Machine, ForgetsTheMemoOfThePickleBefore) {
  Machine machine;
  Values values;
  const std::string two = "(K\x01q\x05h\x05t."s;
  machine.read(MemorySource(as_bytes(two)), values);
  EXPECT_THROW(machine.read(MemorySource(as_bytes("h\x05."s)), values), Error);
}

TEST(Machine, NeedsNoMoreMemoryTheSecondTime) {
  Machine machine;
  Values values;
  const std::string pickle = "\x80\x04(]\x94(K\x01K\x02X\x03\0\0\0abce}\x94K\x01\x8c\x02xysh\0t."s;
  machine.read(MemorySource(as_bytes(pickle)), values);
  const std::uint64_t held = values.memory();
  for (int i = 0; i < 100; ++i) {
    values.clear();
    EXPECT_EQ(TreeText(values).of(machine.read(MemorySource(as_bytes(pickle)), values)),
              "([1, 2, 'abc'], {1: 'xy'}, [1, 2, 'abc'])");
  }
  EXPECT_EQ(values.memory(), held);
}

TEST(Machine, ReadsASourceLargerThanItsBuffers) {
  std::string pickle = "\x80\x04]("s;
  for (int i = 0; i < 50000; ++i) pickle += "\x8c\x06number\x4b\x01"s;
  pickle += "e.";
  const Tree tree(pickle);
  const auto items = tree.values.items(tree.root);
  ASSERT_EQ(items.size(), 100000);
  EXPECT_EQ(tree.values.text(items[99998]), "number");
  EXPECT_EQ(tree.values.integer(items[99999]), 1);
}

TEST(Machine, AcceptsAnyPlaceOfFrames) {
  EXPECT_EQ(Tree("\x80\x04\x95\x06\0\0\0\0\0\0\0K\x01K\x02\x86."s).text(), "(1, 2)");
  EXPECT_EQ(Tree("\x80\x04K\x01\x95\x04\0\0\0\0\0\0\0K\x02\x86."s).text(), "(1, 2)");
}

TEST(Machine, ReadsObjectsOfEachKind) {
  EXPECT_EQ(Tree("cm\nC\nK\x01\x85R."s).text(), "call(<m.C>, (1))");
  EXPECT_EQ(Tree("cm\nC\n)\x81."s).text(), "new(<m.C>, ())");
  EXPECT_EQ(Tree("cm\nC\n)}\x92."s).text(), "newex(<m.C>, (), {})");
  EXPECT_EQ(Tree("\x8c\x01m\x8c\x03"s + "A.B\x93)\x81."s).text(), "new(<m.A.B>, ())");
}

TEST(Machine, KeepsItemsAndStateWithTheObject) {
  EXPECT_EQ(Tree("cm\nC\n)R(K\x01K\x02"s + "eK\x03"s + "aK\x04K\x05s(K\x06K\x07uNb."s).text(),
            "call(<m.C>, ())+[1, 2, 3]+{4: 5, 6: 7}+None");
}

TEST(Machine, ReadsPersistentIds) { EXPECT_EQ(Tree("X\x01\0\0\0sK\x01\x86Q."s).text(), "pid(('s', 1))"); }

TEST(Machine, ReadsSetsAndFrozenSets) {
  EXPECT_EQ(Tree("\x8f(K\x01K\x02\x90."s).text(), "set(1, 2)");
  EXPECT_EQ(Tree("(K\x01K\x02\x91."s).text(), "frozenset(1, 2)");
}

TEST(Machine, ReadsBinaryStringsOfPython2AsText) {
  EXPECT_EQ(Tree("U\x02hi."s).text(), "'hi'");
  EXPECT_EQ(Tree("T\x02\0\0\0hi."s).text(), "'hi'");
}

TEST(Machine, ReadsLongLengths) {
  EXPECT_EQ(Tree("\x8d\x02\0\0\0\0\0\0\0hi."s).text(), "'hi'");
  EXPECT_EQ(Tree("\x8e\x02\0\0\0\0\0\0\0hi."s).text(), "b'hi'");
  EXPECT_EQ(Tree("\x96\x02\0\0\0\0\0\0\0hi."s).text(), "bytearray(b'hi')");
  EXPECT_EQ(Tree("\x8b\x02\0\0\0\x01\x80."s).text(), "-32767");
}

TEST(Machine, ReadsIntegersOfUpTo255Bytes) {
  EXPECT_EQ(Tree("\x8a\0."s).text(), "0");
  EXPECT_EQ(Tree("\x8a\x01\xff."s).text(), "-1");
  EXPECT_EQ(Tree("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s).text(), "9223372036854775807");
  EXPECT_EQ(Tree("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."s).text(), "big ffffffffffffffff00");
  const Tree tree("\x8a\xff"s + std::string(255, '\1') + ".");
  EXPECT_EQ(tree.values.text(tree.root), std::string(255, '\1'));
}

TEST(Machine, DropsPlainValues) {
  EXPECT_EQ(Tree("K\x01K\x02"s + "0."s).text(), "1");
  EXPECT_EQ(Tree("K\x01(K\x02K\x03"s + "1."s).text(), "1");
}

TEST(Machine, DropsACallThatTheMemoKeeps) {
  EXPECT_EQ(Tree("(cm\nC\n)Rq\0"s + "1h\0\x85."s).text(), "(call(<m.C>, ()))");
}

TEST(Machine, DuplicatesTheSameValue) {
  const Tree tree("]2K\x01"s + "a\x86."s);
  EXPECT_EQ(tree.text(), "([1], [1])");
  EXPECT_EQ(tree.values.items(tree.root)[0], tree.values.items(tree.root)[1]);
}

TEST(Machine, AllowsNestingUpToTheLimit) {
  const auto nested = [](int depth) { return std::string(depth, ']') + std::string(depth - 1, 'a') + "."; };
  EXPECT_NO_THROW(Tree(nested(1000)));
  EXPECT_STREQ(error_of([&] { Tree(nested(1001)); }).what(), "nested deeper than 1000");
}

TEST(Machine, AllowsMarksUpToTheLimit) {
  const auto marks = [](int depth) { return std::string(depth, '(') + std::string(depth, 't') + "."; };
  EXPECT_NO_THROW(Tree(marks(1000)));
  EXPECT_STREQ(error_of([&] { Tree(marks(1001)); }).what(), "nested deeper than 1000");
}

TEST(Machine, LimitsNestingOfEveryKind) {
  EXPECT_THROW(Tree(")"s + std::string(1000, '\x85') + "."), Error);
  EXPECT_THROW(Tree(")"s + std::string(1000, 'Q') + "."), Error);
  std::string calls = ")";
  for (int i = 0; i < 1000; ++i) calls = "cm\nC\n" + calls + "R\x85";
  EXPECT_STREQ(error_of([&] { Tree(calls + "."); }).what(), "nested deeper than 1000");
}

TEST(Machine, LimitsMemory) {
  std::string pickle = "](";
  for (int i = 0; i < 100000; ++i) pickle += "K\x01";
  pickle += "e.";
  EXPECT_NO_THROW(Tree(pickle, nullptr, {.memory = 8 << 20}));
  const Error error = error_of([&] { Tree(pickle, nullptr, {.memory = 1 << 20}); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "the pickle needs more than 1.0 MiB of memory");
  EXPECT_TRUE(error.where().offset.has_value());
}

TEST(Machine, LimitsTheMemoryOfOneText) {
  const std::string pickle = "B\0\0\x20\0"s + std::string(2 << 20, 'x') + ".";
  EXPECT_THROW(Tree(pickle, nullptr, {.memory = 1 << 20}), Error);
  EXPECT_NO_THROW(Tree(pickle, nullptr, {.memory = 4 << 20}));
}

TEST(Machine, CanReadAfterAnError) {
  Machine machine;
  Values values;
  EXPECT_THROW(machine.read(MemorySource(as_bytes("((K\x01"s)), values), Error);
  values.clear();
  EXPECT_EQ(values.integer(machine.read(MemorySource(as_bytes("K\x01."s)), values)), 1);
}

TEST(Machine, FreesMuchMemoryOnClear) {
  Machine machine;
  Values values;
  std::string pickle = "B\0\0\0\x06"s + std::string(96 << 20, 'x') + ".";
  machine.read(MemorySource(as_bytes(pickle)), values);
  EXPECT_GT(values.memory(), 96 << 20);
  values.clear();
  EXPECT_EQ(values.memory(), 0);
  EXPECT_EQ(values.integer(machine.read(MemorySource(as_bytes("K\x01."s)), values)), 1);
}

}  // namespace
}  // namespace fsdpckpt::pickle
