#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "base/error_of.h"
#include "pickle/tree_text.h"
#include "pickle/writer.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

std::string reemit(const Tree& tree) {
  Writer writer;
  TreeWriter(writer, tree.values, nullptr).write(tree.root);
  return writer.finish();
}

std::string reemitted_text(std::string_view pickle) { return Tree(reemit(Tree(pickle))).text(); }

void expect_same(std::string_view pickle) { EXPECT_EQ(reemitted_text(pickle), Tree(pickle).text()); }

TEST(TreeWriter, KeepsPlainValues) {
  expect_same("(N\x88\x89K\1J\xff\xff\xff\xff\x8a\x9\0\0\0\0\0\0\0\0\1G\x3f\xf8\0\0\0\0\0\0X\2\0\0\0\xc3\xa9t."s);
}

TEST(TreeWriter, KeepsTuplesOfEachLength) { expect_same("()K\1\x85K\1K\2\x86K\1K\2K\3\x87(K\1K\2K\3K\4tt."s); }

TEST(TreeWriter, KeepsListsAndDicts) { expect_same("(](K\1](K\2"s + "e}e}(K\1}K\2K\3su)t."); }

TEST(TreeWriter, KeepsObjects) { expect_same("(cm\nR\nK\1\x85R(K\1K\2"s + "e(K\3K\4uNbcm\nN\n)\x81}bt."); }

TEST(TreeWriter, SpellsSetsForProtocol2) {
  EXPECT_EQ(reemitted_text("\x8f(K\1\x90."s), "call(<__builtin__.set>, ([1]))");
  EXPECT_EQ(reemitted_text("\x8f."s), "call(<__builtin__.set>, ([]))");
  EXPECT_EQ(reemitted_text("(K\1\x91."s), "call(<__builtin__.frozenset>, ([1]))");
}

TEST(TreeWriter, SpellsBytesForProtocol2) {
  EXPECT_EQ(reemitted_text("C\1\xff."s), "call(<_codecs.encode>, ('\\xc3\\xbf', 'latin1'))");
  EXPECT_EQ(reemitted_text("\x96\1\0\0\0\0\0\0\0a."s),
            "call(<__builtin__.bytearray>, (call(<_codecs.encode>, ('a', 'latin1'))))");
}

TEST(TreeWriter, SpellsTheCallForEmptyBytesAsBytes) {
  EXPECT_EQ(reemitted_text("c__builtin__\nbytes\n)R."), "call(<_codecs.encode>, ('', 'latin1'))");
  expect_same("c__builtin__\nbytes\nK\1\x85R.");
}

TEST(TreeWriter, SpellsNewObjectsWithKeywordsForProtocol2) {
  EXPECT_EQ(reemitted_text("cm\nC\nK\1\x85}K\2K\3s\x92."s), "call(<copy_reg.__newobj_ex__>, (<m.C>, (1), {2: 3}))");
}

TEST(TreeWriter, KeepsTheIdentityOfSharedValues) {
  const std::string kinds[] = {"]",
                               "}",
                               "\x8f",
                               "C\1a"s,
                               "cm\nC\n)R",
                               "K\1\x85",
                               "\x96\1\0\0\0\0\0\0\0a"s,
                               "X\xc8\0\0\0"s + std::string(200, 'x')};
  for (const std::string& kind : kinds) {
    const Tree tree(reemit(Tree(kind + "q\0h\0\x86."s)));
    const auto items = tree.values.items(tree.root);
    EXPECT_EQ(items[0], items[1]) << tree.text();
  }
}

TEST(TreeWriter, KeepsIdentityFromOneWriteToTheNext) {
  const Tree tree("]K\1"s + "a.");
  Writer writer;
  TreeWriter tree_writer(writer, tree.values, nullptr);
  tree_writer.write(tree.root);
  tree_writer.write(tree.root);
  writer.tuple(2);
  const Tree again(writer.finish());
  EXPECT_EQ(again.text(), "([1], [1])");
  EXPECT_EQ(again.values.items(again.root)[0], again.values.items(again.root)[1]);
}

TEST(TreeWriter, CarriesPersistentIdsOver) { expect_same("(X\1\0\0\0sK\1tQ."s); }

TEST(TreeWriter, LetsTheCallerWritePersistentIds) {
  const Tree tree("(K\1QK\2Qt."s);
  Writer writer;
  TreeWriter(writer, tree.values, [&](NodeId operand) {
    writer.integer(tree.values.integer(operand) * 10);
  }).write(tree.root);
  EXPECT_EQ(Tree(writer.finish()).text(), "(10, 20)");
}

TEST(TreeWriter, RefusesCycles) {
  for (const std::string& pickle : {"]q\0h\0a."s, "}q\0K\1h\0s."s, "cm\nC\n)\x81q\0h\0b."s}) {
    const Tree tree(pickle);
    const Error error = error_of([&] { reemit(tree); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_STREQ(error.what(), "a value contains itself (a cycle)");
  }
}

TEST(TreeWriter, WritesNestingUpToTheLimitOfTheMachine) {
  expect_same(std::string(1000, ']') + std::string(999, 'a') + ".");
}

TEST(TreeWriter, RefusesDeeperNesting) {
  // Linked through the memo from the outside in.
  std::string pickle = "]r\0\0\0\0"s;
  for (int i = 0; i < 1000; ++i) {
    pickle += "j"s + static_cast<char>(i) + static_cast<char>(i >> 8) + "\0\0]r"s + static_cast<char>(i + 1) +
              static_cast<char>((i + 1) >> 8) + "\0\0a0"s;
  }
  const Tree tree(pickle + ".");
  const Error error = error_of([&] { reemit(tree); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "nested deeper than 1000");
}

TEST(TreeWriter, RenamesTheTextsOfOneListAlone) {
  const Tree tree("(](X\1\0\0\0aX\1\0\0\0bK\1e](X\1\0\0\0ae](X\1\0\0\0aet."s);
  const std::map<std::string, std::string, std::less<>> names = {{"a", "new"}};
  Writer writer;
  TreeWriter writing(writer, tree.values, nullptr);
  writing.rename_items(tree.values.items(tree.root)[0], names);
  writing.rename_items(tree.values.items(tree.root)[2], names);
  writing.write(tree.root);
  EXPECT_EQ(Tree(writer.finish()).text(), "(['new', 'b', 1], ['a'], ['new'])");
}

}  // namespace
}  // namespace fsdpckpt::pickle
