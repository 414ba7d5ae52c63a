#include "formats/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Entries by their paths: "model/w" is a tensor, "model/w:" an object, "#2" a list position.
class Entries {
 public:
  Entries(std::initializer_list<std::string> paths) {
    data.root = "ck";
    for (const std::string& path : paths) add(path);
  }
  std::vector<std::string> selected(const SelectionRules& rules) const {
    const Selection selection = select(data, rules);
    std::vector<std::string> names;
    for (EntryId id = 0; id < data.index.entry_count(); ++id) {
      if (selection.entries[id]) names.emplace_back(data.index.entry(id).name);
    }
    return names;
  }
  Error error_of_selecting(const SelectionRules& rules) const {
    Error error = error_of([&] { select(data, rules); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error;
  }

  Checkpoint::Data data;

 private:
  void add(std::string path) {
    const bool is_object = path.ends_with(':');
    if (is_object) path.pop_back();
    std::vector<std::string> parts(1);
    for (const char c : path) c == '/' ? void(parts.emplace_back()) : void(parts.back() += c);
    std::string name;
    std::vector<Key> keys;
    for (const std::string& part : parts) {
      name += (name.empty() ? "" : ".") + (part[0] == '#' ? part.substr(1) : part);
      if (part[0] == '#')
        keys.push_back({.number = std::stoi(part.substr(1)), .is_number = true});
      else
        keys.push_back({.text = part});
    }
    data.tree.insert(keys, is_object ? data.index.add_object(name)
                                     : data.index.add_tensor(name, DType::int8, {}, data.index.next_box(), 0));
  }
};

const Entries& lightning() {
  static const Entries entries = {"model/l1.weight", "model/l1.bias", "optimizer_0/state/l1.weight/step",
                                  "optimizer_0/param_groups/#0/lr:", "epoch:"};
  return entries;
}

TEST(Select, TakesEverythingWithoutRules) { EXPECT_EQ(lightning().selected({}).size(), 5U); }

TEST(Select, KeepsWhatMatchesAnyPattern) {
  EXPECT_THAT(lightning().selected({.keep = {"*.bias", "epoch"}}), ElementsAre("model.l1.bias", "epoch"));
}

TEST(Select, ExcludesWhatMatchesAnyPattern) {
  EXPECT_THAT(lightning().selected({.exclude = {"optimizer_0.*", "epoch"}}),
              ElementsAre("model.l1.weight", "model.l1.bias"));
}

TEST(Select, ExclusionGoesBeforeKeeping) {
  EXPECT_THAT(lightning().selected({.keep = {"model.*"}, .exclude = {"*weight"}}), ElementsAre("model.l1.bias"));
}

TEST(Select, APatternThatMatchesNothingNamesTheNearestEntry) {
  const Error error = lightning().error_of_selecting({.keep = {"model.l1.wieght"}});
  EXPECT_THAT(error.what(), HasSubstr("'model.l1.wieght' matches no entry"));
  EXPECT_THAT(error.hint(), HasSubstr("'model.l1.weight'"));
  EXPECT_EQ(error.where().path, "ck");
}

TEST(Select, AnExclusionThatMatchesNothingIsAnErrorToo) { lightning().error_of_selecting({.exclude = {"typo*"}}); }

TEST(Select, PatternsThatLeaveNothingAreAnError) {
  EXPECT_THAT(lightning().error_of_selecting({.exclude = {"*"}}).what(), HasSubstr("leave no entry"));
}

TEST(Select, MarksTheNodesInWhichSomethingLies) {
  const Selection selection = select(lightning().data, {.keep = {"*.bias"}});
  const StateTree& tree = lightning().data.tree;
  EXPECT_TRUE(selection.nodes[StateTree::kRoot]);
  EXPECT_TRUE(selection.nodes[tree.child(StateTree::kRoot, "model")]);
  EXPECT_FALSE(selection.nodes[tree.child(StateTree::kRoot, "optimizer_0")]);
}

TEST(SelectModel, IsTheDictModel) {
  EXPECT_THAT(lightning().selected({.model_only = true}), ElementsAre("model.l1.weight", "model.l1.bias"));
}

TEST(SelectModel, IsTheDictStateDict) {
  const Entries entries = {"state_dict/w", "optimizer_states/#0/state/w/step"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("state_dict.w"));
}

TEST(SelectModel, IsTheNearestToTheTop) {
  const Entries entries = {"state/model/w", "state/optimizers/adam/model/w", "other/deeper/model/w"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("state.model.w"));
}

TEST(SelectModel, MayBeSeveralAtOneDepth) {
  const Entries entries = {"a/model/w", "b/state_dict/w", "b/optim/w"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("a.model.w", "b.state_dict.w"));
}

TEST(SelectModel, KeepsObjectsOfTheModel) {
  const Entries entries = {"model/w", "model/_extra_state:", "epoch:"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("model.w", "model._extra_state"));
}

TEST(SelectModel, OfTorchtitanIsWhatIsNoTrainingState) {
  const Entries entries = {
      "tok_embeddings.weight", "layers.0.weight", "optimizer.state.w.step", "lr_scheduler/base:", "train_state:",
      "dataloader/0:",         "something:"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("tok_embeddings.weight", "layers.0.weight"));
}

TEST(SelectModel, CombinesWithPatterns) {
  EXPECT_THAT(lightning().selected({.keep = {"*weight*"}, .model_only = true}), ElementsAre("model.l1.weight"));
}

TEST(SelectModel, WithoutAModelIsAnError) {
  const Entries entries = {"optimizer/state/w", "epoch:"};
  EXPECT_THAT(entries.error_of_selecting({.model_only = true}).what(), HasSubstr("no model"));
}

TEST(SelectModel, AnEntryNamedModelIsNoModelDict) {
  const Entries entries = {"model:", "w"};
  EXPECT_THAT(entries.selected({.model_only = true}), ElementsAre("w"));
}

}  // namespace
}  // namespace fsdpckpt
