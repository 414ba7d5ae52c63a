#include "pickle/value.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

TEST(Values, AnswerNothingAboutOtherKinds) {
  const Tree tree("(NK\1X\1\0\0\0a])cm\nC\ncm\nC\n)RK\1QG\x3f\xf0\0\0\0\0\0\0t."s);
  for (const NodeId node : tree.values.items(tree.root)) {
    const Kind kind = tree.values.kind(node);
    EXPECT_TRUE(kind == Kind::integer || tree.values.integer(node) == 0);
    EXPECT_TRUE(kind == Kind::real || tree.values.real(node) == 0);
    EXPECT_TRUE(kind == Kind::text || tree.values.text(node) == "");
    EXPECT_TRUE(kind == Kind::global || tree.values.module(node) == "");
    EXPECT_TRUE(kind == Kind::global || tree.values.name(node) == "");
    EXPECT_TRUE(kind == Kind::object || tree.values.object(node).callable == kNoNode);
    EXPECT_TRUE(kind == Kind::persistent || tree.values.persistent_id(node) == kNoNode);
    EXPECT_FALSE(tree.values.boolean(node));
    EXPECT_EQ(tree.values.folded(node), 0);
    EXPECT_TRUE(tree.values.items(node).empty());
  }
}

TEST(Values, AnswerNothingAboutNoNode) {
  const Values values;
  EXPECT_EQ(values.kind(kNoNode), Kind::none);
  EXPECT_EQ(values.text(kNoNode), "");
  EXPECT_TRUE(values.items(kNoNode).empty());
  EXPECT_FALSE(values.is_global(kNoNode, "", ""));
  EXPECT_EQ(values.find(kNoNode, "key"), kNoNode);
}

TEST(Values, FindKeysOfDicts) {
  const Tree tree("}(X\1\0\0\0aK\1K\5K\2X\1\0\0\0bK\3u."s);
  EXPECT_EQ(tree.values.integer(tree.values.find(tree.root, "b")), 3);
  EXPECT_EQ(tree.values.find(tree.root, "c"), kNoNode);
  EXPECT_EQ(tree.values.find(tree.values.find(tree.root, "a"), "a"), kNoNode);
}

TEST(Values, FindTheLaterOfEqualKeys) {
  const Tree tree("}(X\1\0\0\0aK\1X\1\0\0\0aK\2u."s);
  EXPECT_EQ(tree.values.integer(tree.values.find(tree.root, "a")), 2);
}

TEST(Values, CompareGlobalsByBothNames) {
  const Tree tree("cmod\nname\n."s);
  EXPECT_TRUE(tree.values.is_global(tree.root, "mod", "name"));
  EXPECT_FALSE(tree.values.is_global(tree.root, "mod", "nam"));
  EXPECT_FALSE(tree.values.is_global(tree.root, "mo", "name"));
}

TEST(Values, KnowTheCallForEmptyBytes) {
  for (const char* pickle : {"c__builtin__\nbytes\n)R.", "cbuiltins\nbytes\n)R."}) {
    const Tree tree(pickle);
    EXPECT_TRUE(tree.values.is_empty_bytes_call(tree.root));
  }
  for (const char* pickle : {"c__builtin__\nbytes\n.", "c__builtin__\nbytes\nK\1\x85R.", "c__builtin__\nbytes\n)\x81.",
                             "c__builtin__\nbytes\n)RNb.", "c__builtin__\nset\n)R.", ")."}) {
    const Tree tree(pickle);
    EXPECT_FALSE(tree.values.is_empty_bytes_call(tree.root));
  }
}

TEST(Values, CanBeMoved) {
  Tree tree("X\1\0\0\0a."s);
  const Values moved = std::move(tree.values);
  EXPECT_EQ(moved.text(tree.root), "a");
}

}  // namespace
}  // namespace fsdpckpt::pickle
