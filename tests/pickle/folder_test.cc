// Folding objects while they are read, and what is freed by it.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "base/error_of.h"
#include "pickle/metadata_pickle.h"
#include "pickle/tree_text.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

/// Folds REDUCE of globals m.R*, BUILD of objects m.B*, and takes items whose key is a text that begins with "take".
class SmallFolder : public Folder {
 public:
  void check_global(std::string_view module, std::string_view name) override {
    if (name == "evil") throw Error(ErrorKind::refused, "no");
    globals.push_back(std::string(module) + "." + std::string(name));
  }
  std::optional<std::uint64_t> fold_reduce(const Values& values, NodeId callable, NodeId arguments) override {
    if (!values.name(callable).starts_with("R")) return std::nullopt;
    return keep(values, callable, arguments);
  }
  std::optional<std::uint64_t> fold_build(const Values& values, NodeId object, NodeId state) override {
    if (values.kind(object) == Kind::folded) {
      if (values.kind(state) == Kind::none) return std::nullopt;
      return keep(values, object, state);
    }
    if (!values.name(values.object(object).callable).starts_with("B")) return std::nullopt;
    return keep(values, values.object(object).callable, state);
  }
  bool take_item(const Values& values, Key key, NodeId value) override {
    if (!values.text(key.node).starts_with("take")) return false;
    taken.push_back(text(values, key.node) + ": " + text(values, value));
    return true;
  }
  std::string text(const Values& values, NodeId node) const {
    TreeText tree(values);
    tree.folded = [this](std::uint64_t number) { return "#" + folded.at(number); };
    return tree.of(node);
  }

  std::vector<std::string> globals;
  std::vector<std::string> folded;
  std::vector<std::string> taken;

 private:
  std::uint64_t keep(const Values& values, NodeId first, NodeId second) {
    folded.push_back(text(values, first) + text(values, second));
    return folded.size() - 1;
  }
};

std::string fold(std::string_view pickle) {
  SmallFolder folder;
  const Tree tree(pickle, &folder);
  std::string text = folder.text(tree.values, tree.root);
  for (const std::string& item : folder.taken) text += " took " + item;
  return text;
}

TEST(Folder, IsAskedAboutGlobals) {
  SmallFolder folder;
  Tree("(cm\nR\n\x8c\1m\x8c\1x\x93t."s, &folder);
  EXPECT_EQ(folder.globals, (std::vector{"m.R"s, "m.x"s}));
}

TEST(Folder, RefusalsOfGlobalsHaveTheOffset) {
  SmallFolder folder;
  for (const std::string& pickle : {"Ncm\nevil\n\x86."s, "N\x8c\1m\x8c\4evil\x93\x86."s}) {
    const Error error = error_of([&] { Tree(pickle, &folder); });
    EXPECT_EQ(error.kind(), ErrorKind::refused);
    EXPECT_EQ(error.where().offset, pickle[1] == 'c' ? 1 : 10);
  }
}

TEST(Folder, FoldsReduce) { EXPECT_EQ(fold("cm\nR\nK\1\x85R."s), "#<m.R>(1)"); }

TEST(Folder, FoldsBuild) { EXPECT_EQ(fold("cm\nB\n)\x81}K\1K\2sb."s), "#<m.B>{1: 2}"); }

TEST(Folder, FoldsBuildOfFolded) { EXPECT_EQ(fold("cm\nR\n)RK\1b."s), "##<m.R>()1"); }

TEST(Folder, StateOfAFoldedValueMustBeTaken) {
  EXPECT_STREQ(error_of([] { fold("cm\nR\n)RNb."s); }).what(), "state is set on a value that takes none");
}

TEST(Folder, LeavesOthersAlone) { EXPECT_EQ(fold("cm\nX\n)R."s), "call(<m.X>, ())"); }

TEST(Folder, FoldsWhatHoldsFolded) {
  EXPECT_EQ(fold("cm\nB\n)\x81](cm\nR\nK\1\x85Rcm\nR\nK\2\x85R"s + "eb."s), "#<m.B>[#<m.R>(1), #<m.R>(2)]");
}

TEST(Folder, TakesItemsOfDicts) {
  EXPECT_EQ(fold("}(\x8c\5take1K\1\x8c\5take2](K\2"s + "eu."s), "{} took 'take1': 1 took 'take2': [2]");
}

TEST(Folder, TakesSomeItems) {
  EXPECT_EQ(fold("}(\x8c\4keepK\1\x8c\4takeK\2\x8c\5keep2K\3u."s), "{'keep': 1, 'keep2': 3} took 'take': 2");
}

TEST(Folder, TakesASingleItem) { EXPECT_EQ(fold("}\x8c\4takeK\2s."s), "{} took 'take': 2"); }

TEST(Folder, TakesNoItemsOfObjects) { EXPECT_EQ(fold("cm\nX\n)R\x8c\4takeK\2s."s), "call(<m.X>, ())+{'take': 2}"); }

TEST(Folder, KeepsWhatLiesBelowAFoldedObject) {
  EXPECT_EQ(fold("(]K\1"s + "a\x8c\3onecm\nR\n\x8c\3two\x85R\x8c\5threet."s), "([1], 'one', #<m.R>('two'), 'three')");
}

TEST(Folder, KeepsMemoisedPartsOfAFoldedObject) {
  EXPECT_EQ(fold("(cm\nR\n(\x8c\3oneq\0K\7\x8c\3two\x86q\1tRh\0h\1t."s),
            "(#<m.R>('one', (7, 'two')), 'one', (7, 'two'))");
}

TEST(Folder, KeepsWhatIsPutIntoAMemoisedListLater) {
  // The list is memoised inside an object that is folded, and filled while another object is being made.
  EXPECT_EQ(fold("(cm\nR\n]q\0\x85Rcm\nR\nh\0\x8c\4latea0K\1\x85Rcm\nR\n\x8c\5other\x85Rh\0t."s),
            "(#<m.R>([]), #<m.R>(1), #<m.R>('other'), ['late'])");
}

TEST(Folder, KeepsTheStateOfAMemoisedObject) {
  EXPECT_EQ(fold("(cm\nR\n(cm\nX\n)\x81q\0(\x8c\3one\x8c\3twotbtRcm\nR\n)Rh\0t."s),
            "(#<m.R>(new(<m.X>, ())+('one', 'two')), #<m.R>(), new(<m.X>, ())+('one', 'two'))");
}

TEST(Folder, FoldsDuplicatedObjectsInBothPlaces) {
  EXPECT_EQ(fold("(cm\nB\n)\x81"s + "2K\1bcm\nR\n)Rt."), "(#<m.B>1, #<m.B>1, #<m.R>())");
}

TEST(Folder, FoldedValuesAreReadFromTheMemo) {
  EXPECT_EQ(fold("(cm\nR\nK\1\x85Rq\0cm\nR\nh\0\x85Rh\0t."s), "(#<m.R>(1), #<m.R>(#<m.R>(1)), #<m.R>(1))");
}

TEST(Folder, ObjectsMemoisedBeforeTheyAreFoldedAreReadFolded) {
  EXPECT_EQ(fold("(cm\nB\n)\x81q\0}K\1\x8c\3twosbh\0t."s), "(#<m.B>{1: 'two'}, #<m.B>{1: 'two'})");
}

TEST(Folder, FoldedValuesMemoisedBeforeTheirStateAreReadWithIt) {
  EXPECT_EQ(fold("(cm\nR\n)Rq\0K\5bh\0t."s), "(##<m.R>()5, ##<m.R>()5)");
}

TEST(Folder, FoldedValuesTakeStateMoreThanOnce) {
  EXPECT_EQ(fold("(cm\nR\n)Rq\0"s + "2K\5b0K\6bh\0t."s), "(###<m.R>()56, ###<m.R>()56)");
}

TEST(Folder, FoldedValuesAreBuiltFromTheMemo) {
  EXPECT_EQ(fold("(cm\nB\n)\x81q\0\x8c\3onet(h\0K\1bt\x86."s), "((#<m.B>1, 'one'), (#<m.B>1))");
}

TEST(Folder, ReducedValuesInOnePassToo) {
  const std::string pickle = "(cm\nR\nK\1\x85Rq\0cm\nB\n)\x81q\1h\0bh\1t."s;
  MemoryReader bytes(as_bytes(pickle));
  SmallFolder folder;
  Values values;
  const NodeId root = Machine().read(bytes, values, &folder);
  EXPECT_EQ(folder.text(values, root), "(#<m.R>(1), #<m.B>#<m.R>(1), #<m.B>#<m.R>(1))");
}

/// Folds what .metadata is made of: the upper half of a number says of what, the lower half is what it counts.
class MetadataFolder : public Folder {
 public:
  void check_global(std::string_view, std::string_view) override {}
  std::optional<std::uint64_t> fold_reduce(const Values& values, NodeId callable, NodeId arguments) override {
    if (!values.is_global(callable, "torch", "Size")) return std::nullopt;
    return values.integer(values.items(values.items(arguments)[0])[0]);
  }
  std::optional<std::uint64_t> fold_build(const Values& values, NodeId object, NodeId state) override {
    const std::string_view name = values.name(values.object(object).callable);
    if (name == "TensorStorageMetadata") return kTensor | values.items(values.find(state, "chunks")).size();
    if (name == "MetadataIndex") return kIndex | values.folded(values.find(state, "offset"));
    return 0;
  }
  bool take_item(const Values& values, Key key, NodeId value) override {
    if ((values.folded(value) & kTensor) != 0) chunks += values.folded(value) & UINT32_MAX;
    if ((values.folded(key.node) & kIndex) != 0) rows += values.folded(key.node) & UINT32_MAX;
    return ((values.folded(value) & kTensor) | (values.folded(key.node) & kIndex)) != 0;
  }

  std::uint64_t chunks = 0;
  std::uint64_t rows = 0;

 private:
  static constexpr std::uint64_t kTensor = 1ULL << 40;
  static constexpr std::uint64_t kIndex = 1ULL << 41;
};

std::uint64_t peak_of(const MetadataShape& shape) {
  const std::string pickle = metadata_pickle(shape);
  MetadataFolder folder;
  const Tree tree(pickle, &folder);
  EXPECT_EQ(tree.text(), "({}, {})");
  EXPECT_EQ(folder.chunks, shape.tensors * shape.chunks);
  EXPECT_EQ(folder.rows, shape.tensors * (shape.chunks * (shape.chunks - 1ULL) / 2 * 1024));
  return tree.machine.peak_memory();
}

TEST(FolderMemory, DoesNotGrowWithTheChunks) { EXPECT_LT(peak_of({.tensors = 100, .chunks = 500}), 220 << 10); }

TEST(FolderMemory, DoesNotGrowWithItemsThatAreTaken) {
  class TakeAll : public SmallFolder {
    bool take_item(const Values&, Key, NodeId) override { return true; }
  } folder;
  std::string pickle = "}";
  for (int i = 0; i < 10000; ++i) pickle += "\x8c\3abcK\1\x86](K\1K\2es";
  EXPECT_LT(Tree(pickle + ".", &folder).machine.peak_memory(), 10000);
}

TEST(FolderMemory, IsANodeForEachChunkOfTheTensorBeingRead) {
  constexpr int kChunks = 50000;
  EXPECT_LT(peak_of({.tensors = 1, .chunks = kChunks}), (200 << 10) + kChunks * (16 + 16 + 4 + 4 + 8));
}

TEST(FolderMemory, IsAMemoSlotForEachSizeThatIsReadAgain) {
  constexpr int kChunks = 50000;
  EXPECT_LT(peak_of({.tensors = 100, .chunks = kChunks / 100, .sizes_shared = true}), (400 << 10) + 2 * kChunks * 24);
}

}  // namespace
}  // namespace fsdpckpt::pickle
