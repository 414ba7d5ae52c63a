// Each malformed pickle is an Error(input) with the offset of its opcode, in one pass and in two.
#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>

#include "base/error_of.h"
#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

struct Malformed {
  const char* name;
  std::string pickle;
  std::uint64_t offset;
  std::string what;
};

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.name; }

std::string with_code(char code) { return "K\x01"s + code + "."; }

const Malformed kMalformed[] = {
    {"TextInt", "I1\n.", 0, "unsupported opcode 0x49 at offset 0"},
    {"TextFloat", "F1\n.", 0, "unsupported opcode 0x46 at offset 0"},
    {"TextLong", "L1\n.", 0, "unsupported opcode 0x4c at offset 0"},
    {"TextString", "S'a'\n.", 0, "unsupported opcode 0x53 at offset 0"},
    {"TextUnicode", "Va\n.", 0, "unsupported opcode 0x56 at offset 0"},
    {"TextGet", with_code('g'), 2, "unsupported opcode 0x67 at offset 2"},
    {"TextPut", with_code('p'), 2, "unsupported opcode 0x70 at offset 2"},
    {"TextPersistentId", with_code('P'), 2, "unsupported opcode 0x50 at offset 2"},
    {"ListFromMark", "(l.", 1, "unsupported opcode 0x6c at offset 1"},
    {"DictFromMark", "(d.", 1, "unsupported opcode 0x64 at offset 1"},
    {"Inst", "(im\nC\n.", 1, "unsupported opcode 0x69 at offset 1"},
    {"Obj", "(cm\nC\no.", 6, "unsupported opcode 0x6f at offset 6"},
    {"Ext1", with_code('\x82'), 2, "unsupported opcode 0x82 at offset 2"},
    {"Ext2", with_code('\x83'), 2, "unsupported opcode 0x83 at offset 2"},
    {"Ext4", with_code('\x84'), 2, "unsupported opcode 0x84 at offset 2"},
    {"NextBuffer", with_code('\x97'), 2, "unsupported opcode 0x97 at offset 2"},
    {"ReadonlyBuffer", with_code('\x98'), 2, "unsupported opcode 0x98 at offset 2"},
    {"UnknownOpcode", with_code('\xff'), 2, "unsupported opcode 0xff at offset 2"},
    {"ProtocolTooHigh", "\x80\x06N."s, 0, "unsupported pickle protocol 6, at most 5"},
    {"EmptyStackAtStop", ".", 0, "the pickle ends with 0 values, expected 1"},
    {"TwoValuesAtStop", "NN.", 2, "the pickle ends with 2 values, expected 1"},
    {"MarkAtStop", "N(.", 2, "the pickle ends inside a mark"},
    {"TupleWithoutMark", "Nt.", 1, "a mark is missing"},
    {"AppendsWithoutMark", "]e.", 1, "a mark is missing"},
    {"PopMarkWithoutMark", "N1.", 1, "a mark is missing"},
    {"TupleOfTooFew", "N\x86.", 1, "the stack has 1 values where 2 are needed"},
    {"TupleAcrossAMark", "N(N\x86t.", 3, "the stack has 1 values where 2 are needed"},
    {"ReduceOfTooFew", ")R.", 1, "the stack has 1 values where 2 are needed"},
    {"PopOfNothing", "0.", 0, "the stack has 0 values where 1 are needed"},
    {"PopOfAMark", "N(0.", 2, "the stack has 0 values where 1 are needed"},
    {"PutOfNothing", "q\0."s, 0, "the stack has 0 values where 1 are needed"},
    {"MemoizeOfNothing", "\x94.", 0, "the stack has 0 values where 1 are needed"},
    {"AppendsToNothing", "(Ne.", 2, "the stack has no container to fill"},
    {"AppendsAcrossAMark", "]((Nee.", 4, "the stack has no container to fill"},
    {"AppendToNothing", "Na.", 1, "the stack has no container to fill"},
    {"SetItemToNothing", "NNs.", 2, "the stack has no container to fill"},
    {"AppendToADict", "}Na.", 2, "items are appended to a dict"},
    {"AppendToATuple", ")Na.", 2, "items are appended to a tuple"},
    {"AppendsToASet", "\x8f(Ne.", 3, "items are appended to a set"},
    {"AddItemsToAList", "](N\x90.", 3, "items are added to a list, expected a set"},
    {"AddItemsToAnObject", "cm\nC\n)R(N\x90.", 9, "items are added to an object, expected a set"},
    {"SetItemOnAList", "]NNs.", 3, "items are set on a list"},
    {"SetItemsOnAGlobal", "cm\nC\n(NNu.", 8, "items are set on a global"},
    {"SetItemsOfOddNumber", "}(NNNu.", 5, "a key has no value"},
    {"SetItemsOfOddNumberOnAnObject", "cm\nC\n)R(Nu.", 9, "a key has no value"},
    {"ReduceOfAText", "X\1\0\0\0a)R."s, 7, "a call of a text"},
    {"ReduceOfAList", "])R.", 2, "a call of a list"},
    {"ReduceOnAList", "cm\nC\n]R.", 6, "arguments of a call are a list, expected a tuple"},
    {"NewOnNone", "cm\nC\nN\x81.", 6, "arguments of a call are none, expected a tuple"},
    {"NewOfAnInteger", "K\1)\x81.", 3, "a call of an integer"},
    {"NewExWithoutKeywords", "cm\nC\n))\x92.", 7, "keywords of a call are a tuple, expected a dict"},
    {"BuildOnAList", "]Nb.", 2, "state is set on a list"},
    {"BuildOnAGlobal", "cm\nC\nNb.", 6, "state is set on a global"},
    {"BuildTwice", "cm\nC\n)RNbNb.", 10, "state is set twice on one object"},
    {"PopOfACall", "Ncm\nC\n)R0.", 8, "the result of a call is thrown away"},
    {"PopMarkOfACall", "N(cm\nC\n)R1.", 9, "the result of a call is thrown away"},
    {"GlobalFromIntegers", "K\1K\2\x93.", 4, "module and name of a global are not texts"},
    {"GlobalFromBytes", "\x8c\1mC\1n\x93.", 6, "module and name of a global are not texts"},
    {"UnknownMemoSlot", "h\7.", 0, "memo slot 7 is read but was never filled"},
    {"UnknownLongMemoSlot", "j\xff\xff\xff\xff.", 0, "memo slot 4294967295 is read but was never filled"},
    {"MemoSlotReadTooEarly", "(Nh\0Nq\0t."s, 2, "memo slot 0 is read but was never filled"},
    {"TextNotUtf8", "X\2\0\0\0\xc3(."s, 0, "a text is not valid UTF-8"},
    {"TextOverlong", "\x8c\2\xc0\x80."s, 0, "a text is not valid UTF-8"},
    {"StringNotUtf8", "U\1\xff."s, 0, "a text is not valid UTF-8"},
    {"GlobalNotUtf8", "c\xff\nC\n."s, 0, "the name of a global is not valid UTF-8"},
    {"GlobalTooLong", "c" + std::string(5000, 'm') + "\nC\n.", 0, "the name of a global is too long"},
    {"Integer256Bytes", "\x8b\0\1\0\0"s + std::string(256, 'x') + ".", 0, "an integer of 256 bytes, at most 255"},
    {"IntegerOfNegativeLength", "\x8b\xff\xff\xff\xffx."s, 0, "a length of 4294967295 bytes where 2 remain"},
    {"UnicodeTooLong", "X\xff\xff\xff\x7f."s, 0, "a length of 2147483647 bytes where 1 remain"},
    {"Unicode8TooLong", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s, 0,
     "a length of 18446744073709551615 bytes where 1 remain"},
    {"BytesTooLong", "B\0\0\1\0."s, 0, "a length of 65536 bytes where 1 remain"},
    {"Bytes8TooLong", "\x8e\0\0\0\0\0\0\0\x80."s, 0, "a length of 9223372036854775808 bytes where 1 remain"},
    {"ByteArrayTooLong", "\x96\0\0\0\0\0\0\1\0."s, 0, "a length of 281474976710656 bytes where 1 remain"},
};

class MalformedPickles : public testing::TestWithParam<Malformed> {};

void expect_error(const Error& error) {
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.what(), MalformedPickles::GetParam().what);
  EXPECT_EQ(error.where().offset, MalformedPickles::GetParam().offset);
}

TEST_P(MalformedPickles, AreRefusedInTwoPasses) {
  expect_error(error_of([] { Tree(GetParam().pickle); }));
}

TEST_P(MalformedPickles, AreRefusedInOnePass) {
  MemoryReader bytes(as_bytes(GetParam().pickle));
  Values values;
  expect_error(error_of([&] { Machine().read(bytes, values); }));
}

INSTANTIATE_TEST_SUITE_P(Machine, MalformedPickles, testing::ValuesIn(kMalformed),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(MachineErrors, FrameLongerThanTheRest) {
  const std::string pickle = "\x80\4\x95\x07\0\0\0\0\0\0\0N."s;
  MemoryReader bytes(as_bytes(pickle));
  Values values;
  const Error error = error_of([&] { Machine().read(bytes, values); });
  EXPECT_STREQ(error.what(), "a length of 7 bytes where 2 remain");
  EXPECT_EQ(error.where().offset, 2);
}

TEST(MachineErrors, EndsInsideAnArgument) {
  for (const std::string& pickle : {"J\1\1"s, "X\5\0\0\0abc"s, "cmod\nna"s, "G\0"s, ""s}) {
    const Error error = error_of([&] { Tree tree(pickle); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_TRUE(error.where().offset.has_value());
  }
}

}  // namespace
}  // namespace fsdpckpt::pickle
