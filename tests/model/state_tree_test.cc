#include "model/state_tree.h"

#include <gtest/gtest.h>

#include <variant>

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

using Node = StateTree::Node;

/// A path from text keys and list positions.
std::vector<Key> path(std::initializer_list<std::variant<const char*, int>> elements) {
  std::vector<Key> keys;
  for (const auto& element : elements) {
    if (const int* number = std::get_if<int>(&element))
      keys.push_back({.number = *number, .is_number = true});
    else
      keys.push_back({.text = std::get<const char*>(element)});
  }
  return keys;
}

std::string text_of(const StateTree& tree, Node node = StateTree::kRoot) {
  if (tree.kind(node) == StateTree::Kind::nothing) return "None";
  if (tree.kind(node) == StateTree::Kind::entry) return std::to_string(tree.entry(node));
  const bool is_dict = tree.kind(node) == StateTree::Kind::dict;
  std::string text = is_dict ? "{" : "[";
  for (const StateTree::Child& child : tree.children(node)) {
    if (text.size() > 1) text += ", ";
    if (is_dict)
      text += child.key.is_number ? std::to_string(child.key.number) : "'" + std::string(child.key.text) + "'";
    text += (is_dict ? ": " : "") + text_of(tree, child.node);
  }
  return text + (is_dict ? "}" : "]");
}

TEST(StateTree, StartsAsAnEmptyDict) { EXPECT_EQ(text_of(StateTree()), "{}"); }

TEST(StateTree, BuildsDictsInTheOrderOfThePaths) {
  StateTree tree;
  tree.insert(path({"model", "b.weight"}), 0);
  tree.insert(path({"optim", "lr"}), 1);
  tree.insert(path({"model", "a.weight"}), 2);
  EXPECT_EQ(text_of(tree), "{'model': {'b.weight': 0, 'a.weight': 2}, 'optim': {'lr': 1}}");
}

TEST(StateTree, ANumberMakesAList) {
  StateTree tree;
  tree.insert(path({"groups", 0, "lr"}), 0);
  tree.insert(path({"groups", 1, 0}), 1);
  EXPECT_EQ(text_of(tree), "{'groups': [{'lr': 0}, [1]]}");
}

TEST(StateTree, FillsListsWithNone) {
  StateTree tree;
  tree.insert(path({"list", 3}), 0);
  tree.insert(path({"list", 1}), 1);
  EXPECT_EQ(text_of(tree), "{'list': [None, 1, None, 0]}");
}

TEST(StateTree, ATextKeyOfDigitsStaysADictKey) {
  StateTree tree;
  tree.insert(path({"state", "0", "step"}), 0);
  EXPECT_EQ(text_of(tree), "{'state': {'0': {'step': 0}}}");
}

TEST(StateTree, TheEmptyKeyIsAKey) {
  StateTree tree;
  tree.insert(path({"", "w"}), 0);
  EXPECT_EQ(text_of(tree), "{'': {'w': 0}}");
}

TEST(StateTree, KeepsItsOwnCopyOfKeys) {
  StateTree tree;
  {
    const std::string key = "a key that is too long to be kept in place";
    const Key element{.text = key};
    tree.insert({&element, 1}, 0);
  }
  EXPECT_EQ(text_of(tree), "{'a key that is too long to be kept in place': 0}");
}

void expect_clash(std::initializer_list<std::variant<const char*, int>> first,
                  std::initializer_list<std::variant<const char*, int>> second, const std::string& place) {
  StateTree tree;
  tree.insert(path(first), 0);
  const Error error = error_of([&] { tree.insert(path(second), 1); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
}

TEST(StateTree, RefusesTwoLeavesAtOnePlace) { expect_clash({"a", "b"}, {"a", "b"}, "'a.b'"); }
TEST(StateTree, RefusesALeafThatIsADict) { expect_clash({"a", "b"}, {"a"}, "'a'"); }
TEST(StateTree, RefusesADictThatIsALeaf) { expect_clash({"a"}, {"a", "b"}, "'a'"); }
TEST(StateTree, RefusesADictThatIsAList) { expect_clash({"a", 0}, {"a", "b"}, "'a'"); }
TEST(StateTree, RefusesAListAtTheTopThatIsADict) { expect_clash({"a"}, {0}, "''"); }

TEST(StateTree, RefusesAnEmptyPath) {
  EXPECT_EQ(error_of([] { StateTree().insert({}, 0); }).kind(), ErrorKind::input);
}

TEST(StateTree, RefusesNegativePositions) {
  EXPECT_EQ(error_of([] { StateTree().insert(path({"a", -1}), 0); }).kind(), ErrorKind::input);
}

TEST(StateTree, RefusesPositionsBeyondTheLimit) {
  const Key keys[] = {{.text = "a"}, {.number = StateTree::kMaxListLength, .is_number = true}};
  EXPECT_EQ(error_of([&] { StateTree().insert(keys, 0); }).kind(), ErrorKind::input);
}

TEST(StateTree, RefusesListsThatAreNearlyAllNone) {
  StateTree tree;
  const Key keys[] = {{.text = "a"}, {.number = StateTree::kMaxListLength - 1, .is_number = true}};
  EXPECT_EQ(error_of([&] { tree.insert(keys, 0); }).kind(), ErrorKind::input);
  EXPECT_LT(tree.node_count(), 1000U) << "nothing was allocated for them";
}

TEST(StateTree, TakesLongListsThatAreFull) {
  StateTree tree;
  for (int i = 0; i < 100'000; ++i) tree.insert(path({"a", i}), static_cast<EntryId>(i));
  EXPECT_EQ(tree.children(tree.child(StateTree::kRoot, "a")).size(), 100'000U);
}

TEST(StateTree, RefusesPathsThatAreNestedTooDeeply) {
  StateTree tree;
  const std::vector<Key> deep(1'000'000, Key{.text = "a"});
  EXPECT_EQ(error_of([&] { tree.insert(deep, 0); }).kind(), ErrorKind::input);
}

TEST(StateTree, FindsChildrenByKey) {
  StateTree tree;
  tree.insert(path({"model", "w"}), 5);
  const Node model = tree.child(StateTree::kRoot, "model");
  EXPECT_EQ(tree.entry(tree.child(model, "w")), 5U);
  EXPECT_EQ(tree.child(model, "x"), StateTree::kNowhere);
  EXPECT_EQ(tree.child(StateTree::kRoot, "w"), StateTree::kNowhere);
}

TEST(StateTree, NumbersKeysThatAreSpelledAsNumbers) {
  StateTree tree;
  const char* keys[] = {"0", "10", "-3", "01", "+1", "1.0", " 2", "w", "", "99999999999999999999"};
  for (EntryId i = 0; i < std::size(keys); ++i) tree.insert(path({"state", keys[i]}), i);
  tree.number_keys(tree.child(StateTree::kRoot, "state"));
  EXPECT_EQ(text_of(tree),
            "{'state': {0: 0, 10: 1, -3: 2, '01': 3, '+1': 4, '1.0': 5, ' 2': 6, 'w': 7, '': 8, "
            "'99999999999999999999': 9}}");
}

TEST(StateTree, PutsAnEmptyDictInFrontOfAKey) {
  StateTree tree;
  tree.insert(path({"optim", "name"}), 0);
  tree.insert(path({"optim", "param_groups", 0}), 1);
  const Node optim = tree.child(StateTree::kRoot, "optim");
  tree.insert_empty_dict(optim, "state", "param_groups");
  EXPECT_EQ(text_of(tree), "{'optim': {'name': 0, 'state': {}, 'param_groups': [1]}}");
  EXPECT_EQ(tree.kind(tree.child(optim, "state")), StateTree::Kind::dict);
}

TEST(StateTree, PutsAnEmptyDictAtTheEndWhenTheKeyIsNotThere) {
  StateTree tree;
  tree.insert(path({"a"}), 0);
  tree.insert_empty_dict(StateTree::kRoot, "state", "param_groups");
  EXPECT_EQ(text_of(tree), "{'a': 0, 'state': {}}");
}

TEST(StateTree, KeysCanBeRenamedToFreeOnesAndToThoseJustFreed) {
  StateTree tree;
  for (const char* key : {"a", "b"}) tree.insert(path({key}), key[0] == 'b');
  tree.rename_key(StateTree::kRoot, 0, "b");  // for a moment two have it
  tree.rename_key(StateTree::kRoot, 1, "c");
  EXPECT_EQ(text_of(tree), "{'b': 0, 'c': 1}");
  EXPECT_EQ(tree.child(StateTree::kRoot, "b"), tree.children(StateTree::kRoot)[0].node);
  EXPECT_EQ(tree.child(StateTree::kRoot, "c"), tree.children(StateTree::kRoot)[1].node);
  EXPECT_EQ(tree.child(StateTree::kRoot, "a"), StateTree::kNowhere);
}

}  // namespace
}  // namespace fsdpckpt
