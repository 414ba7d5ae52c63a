#include "report/value_text.h"

#include <gtest/gtest.h>

#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using namespace std::string_literals;

std::string shown(std::string_view pickled, std::size_t limit = 60) {
  const pickle::Tree tree(pickled);
  return value_text(tree.values, tree.root, limit);
}

std::string real(std::string_view big_endian) { return shown("G" + std::string(big_endian) + "."); }

TEST(ValueText, ShowsSimpleValuesAsPythonDoes) {
  EXPECT_EQ(shown("N."), "None");
  EXPECT_EQ(shown("\x88."), "True");
  EXPECT_EQ(shown("K\7."), "7");
  EXPECT_EQ(shown("J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(shown("X\2\0\0\0hi."s), "'hi'");
  EXPECT_EQ(shown("C\3abc."s), "bytes[3]");
  EXPECT_EQ(shown("\x8a\x09\0\0\0\0\0\0\0\0\1."s), "integer of 9 bytes");
}

TEST(ValueText, ShowsNumbersAsPythonDoes) {
  EXPECT_EQ(real("\x3f\xf0\0\0\0\0\0\0"s), "1.0");
  EXPECT_EQ(real("\x3f\xb9\x99\x99\x99\x99\x99\x9a"s), "0.1");
  EXPECT_EQ(real("\x3e\xe4\xf8\xb5\x88\xe3\x68\xf1"s), "1e-05");
  EXPECT_EQ(real("\x40\xf8\x6a\0\0\0\0\0"s), "100000.0");
  EXPECT_EQ(real("\x80\0\0\0\0\0\0\0"s), "-0.0");
  EXPECT_EQ(real("\x43\x41\xc3\x79\x37\xe0\x80\0"s), "1e+16");
  EXPECT_EQ(real("\x7f\xf0\0\0\0\0\0\0"s), "inf");
  EXPECT_EQ(real("\xff\xf0\0\0\0\0\0\0"s), "-inf");
  EXPECT_EQ(real("\x7f\xf8\0\0\0\0\0\0"s), "nan");
}

TEST(ValueText, ShowsContainers) {
  EXPECT_EQ(shown("K\1\x85."), "(1,)");
  EXPECT_EQ(shown("K\1K\2\x86."), "(1, 2)");
  EXPECT_EQ(shown(")."), "()");
  EXPECT_EQ(shown("](K\1K\2e."), "[1, 2]");
  EXPECT_EQ(shown("}(K\1N."s.substr(0, 5) + "u."), "{1: None}");
  EXPECT_EQ(shown("\x80\4\x8f."), "set()");
  EXPECT_EQ(shown("\x80\4\x8f(K\1\x90."), "{1}");
}

TEST(ValueText, ShowsBytesAndSetsOfProtocol2) {
  EXPECT_EQ(shown("c_codecs\nencode\n(X\4\0\0\0a\xc3\xbf\1X\6\0\0\0latin1tR."s), "bytes[3]");
  EXPECT_EQ(shown("c__builtin__\nset\n(](K\1K\2etR."), "{1, 2}");
  EXPECT_EQ(shown("c__builtin__\nset\n(]tR."), "set()");
  EXPECT_EQ(shown("c__builtin__\nset\n(K\1tR."), "__builtin__.set(1)");
}

TEST(ValueText, ShowsObjectsByTheirClass) {
  EXPECT_EQ(shown("cargparse\nNamespace\n)\x81}b."), "argparse.Namespace(...)");
  EXPECT_EQ(shown("cposix\nsystem\nX\2\0\0\0ls\x85R."s), "posix.system('ls')");
  EXPECT_EQ(shown("ccollections\nOrderedDict\n)R(K\1K\2u."), "{1: 2}");
  EXPECT_EQ(shown("cposix\nsystem\n."), "posix.system");
}

TEST(ValueText, StopsInTheDepth) {
  EXPECT_EQ(shown("]]]]](K\1K\2eaaaa."), "[[[[[2 items]]]]]");
  EXPECT_EQ(shown("]q\0h\0a."s), "[[[[[1 items]]]]]") << "a list that holds itself";
}

TEST(ValueText, IsCutBetweenCharacters) {
  EXPECT_EQ(shown("X\x0c\0\0\0abcdefghijkl."s, 4), "'abcdefgh… 4 more'");
  EXPECT_EQ(shown("X\x0c\0\0\0\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc."s, 10), "'üüüü… 2 more'");
}

TEST(ValueText, CountsWhatIsNotShown) {
  EXPECT_EQ(shown("](" + std::string(4000, 'N') + "e.", 10), "[None, None, … 3998 more]");
  EXPECT_EQ(shown("](]" + std::string(9, 'N') + "K\1e.", 10), "[[], None, … 9 more]");
  EXPECT_EQ(shown("}(K\1K\2K\3K\4K\5K\6u.", 6), "{1: 2, … 2 more}");
  EXPECT_EQ(shown("](](NNNe](NNNee.", 10), "[[None, None, … 1 more], … 1 more]");
}

TEST(ValueText, CannotDriveATerminal) {
  EXPECT_EQ(shown("X\4\0\0\0\x1b[2J."s), "'\\x1b[2J'");
  EXPECT_EQ(shown("cm\x1b\nC\n."), "m\\x1b.C");
}

}  // namespace
}  // namespace fsdpckpt
