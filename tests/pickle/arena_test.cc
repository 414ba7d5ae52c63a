#include "pickle/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>

namespace fsdpckpt::pickle {
namespace {

NodeId add_text(Arena& arena, const std::string& text) {
  const NodeId node = arena.add_text(Kind::text, text.size());
  std::memcpy(arena.text_bytes(node), text.data(), text.size());
  return node;
}

/// One node of each kind that owns something.
void add_some(Arena& arena, int seed) {
  add_text(arena, std::string(seed % 300, 'x'));
  arena.add_tuple(Kind::tuple, seed % 5);
  arena.list(arena.node(arena.add_list(Kind::list))).assign(seed % 7, 0);
  Object& object = arena.object(arena.node(arena.add_object(Object::How::reduce, 0, 1)));
  object.list_items.assign(seed % 3, 0);
}

TEST(Arena, CutGivesBackWhatNodesOwn) {
  Arena arena;
  const NodeId kept = add_text(arena, "kept");
  for (int i = 0; i < 1000; ++i) add_some(arena, i);
  const std::uint64_t memory = arena.budget.used();
  for (int round = 0; round < 10; ++round) {
    arena.cut(1);
    EXPECT_EQ(arena.count(), 1);
    for (int i = 0; i < 1000; ++i) add_some(arena, i);
  }
  EXPECT_EQ(arena.budget.used(), memory);
  EXPECT_EQ(arena.text(arena.node(kept)), "kept");
}

TEST(Arena, ListsAndObjectsAreUsedAgainEmpty) {
  Arena arena;
  add_some(arena, 104);
  arena.cut(0);
  EXPECT_TRUE(arena.list(arena.node(arena.add_list(Kind::dict))).empty());
  const Object& object = arena.object(arena.node(arena.add_object(Object::How::new_object, 5, 6)));
  EXPECT_TRUE(object.list_items.empty());
  EXPECT_EQ(object.callable, 5);
  EXPECT_EQ(object.state, kNoNode);
}

TEST(Arena, FoldKeepsTheNumberOfTheNode) {
  Arena arena;
  const NodeId object = arena.add_object(Object::How::new_object, 0, 0);
  arena.fold(object, 7);
  EXPECT_EQ(arena.node(object).kind, Kind::folded);
  EXPECT_EQ(arena.node(object).high, 7);
}

TEST(Arena, CutPassesOverObjectsFoldedInPlace) {
  Arena arena;
  const NodeId first = arena.add_object(Object::How::new_object, 1, 1);
  const NodeId second = arena.add_object(Object::How::new_object, 2, 2);
  arena.add(Kind::none);
  arena.fold(second, 7);
  const NodeId third = arena.add_object(Object::How::new_object, 3, 3);
  EXPECT_EQ(arena.object(arena.node(third)).callable, 3);
  arena.cut(second);
  EXPECT_EQ(arena.object(arena.node(first)).callable, 1);
  EXPECT_EQ(arena.object(arena.node(arena.add_object(Object::How::reduce, 4, 4))).callable, 4);
}

TEST(Arena, TextsStayWhereTheyAre) {
  Arena arena;
  const NodeId first = add_text(arena, "first");
  const char* place = arena.text(arena.node(first)).data();
  for (int i = 0; i < 100; ++i) add_text(arena, std::string(i * 100, 'x'));
  EXPECT_EQ(arena.text(arena.node(first)).data(), place);
}

TEST(Arena, TakesTextsOfAnySizeInAnyOrder) {
  Arena arena;
  for (const std::size_t size : {0, 1, 5000, 0, 4096, 1 << 20, 3, 0}) {
    const NodeId before = arena.count();
    add_text(arena, std::string(size, 'a'));
    add_text(arena, "b");
    arena.cut(before + 1);
    add_text(arena, "c");
    EXPECT_EQ(arena.text(arena.node(before)), std::string(size, 'a'));
  }
  arena.cut(0);
  EXPECT_EQ(arena.text(arena.node(add_text(arena, "again"))), "again");
}

}  // namespace
}  // namespace fsdpckpt::pickle
