#include "formats/optimizer_repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"

namespace fsdpckpt {
namespace {

using Position = std::int64_t;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An optimizer's checkpoint being repaired; `ids` says whether params are numbers or names.
class Optimizer {
 public:
  void add_state(const std::string& key) {
    const std::string name = "optim.state." + key + ".step";
    builder_.add(name, sample_values("float32", {}), {{.offsets = {}, .sizes = {}}}, {"optim", "state", key, "step"});
  }
  /// param_groups.0.params as its own entry, as torch 2.4 and later flatten it.
  void add_params(bool ids) {
    builder_.add_object("optim.param_groups.0.params", object_item([&](pickle::Writer& w) { write_params(w, ids); }),
                        {"optim", "param_groups", Position{0}, "params"});
  }
  /// param_groups as one object, as torch 2.0 to 2.3 store it.
  void add_groups(bool ids) {
    const auto groups = [&](pickle::Writer& writer) {
      writer.empty_list();
      writer.empty_dict();
      writer.text("params");
      write_params(writer, ids);
      writer.set_item();
      writer.append();
    };
    builder_.add_object("optim.param_groups", object_item(groups), {"optim", "param_groups"});
  }
  std::vector<std::string> repair(const SelectionRules& rules = {}) {
    builder_.write(directory_);
    checkpoint_ = open_dcp(directory_.path());
    Selection selection = select(checkpoint_.data(), rules);
    std::vector<std::string> notes = repair_optimizers(checkpoint_.data(), selection);
    EXPECT_EQ(selection.nodes.size(), checkpoint_.data().tree.node_count());
    return notes;
  }
  const StateTree& tree() const { return checkpoint_.data().tree; }
  StateTree::Node state() const { return tree().child(tree().child(StateTree::kRoot, "optim"), "state"); }
  std::vector<bool> numbered() const {
    std::vector<bool> result;
    for (const StateTree::Child& child : tree().children(state())) result.push_back(child.key.is_number);
    return result;
  }

 private:
  static void write_params(pickle::Writer& writer, bool ids) {
    writer.empty_list();
    writer.mark();
    for (int i = 0; i < 2; ++i) ids ? writer.integer(i) : writer.text("layer.weight");
    writer.appends();
  }

  TempDir directory_;
  DcpBuilder builder_;
  Checkpoint checkpoint_;
};

TEST(OptimizerRepair, MakesKeysIntegersWhenParametersAreNumbered) {
  Optimizer optimizer;
  optimizer.add_state("0");
  optimizer.add_state("1");
  optimizer.add_params(true);
  EXPECT_THAT(optimizer.repair(), ElementsAre(HasSubstr("'optim' names its parameters by number")));
  EXPECT_THAT(optimizer.numbered(), ElementsAre(true, true));
}

TEST(OptimizerRepair, MakesKeysIntegersInTheOldLayout) {
  Optimizer optimizer;
  optimizer.add_state("0");
  optimizer.add_groups(true);
  EXPECT_THAT(optimizer.repair(), ElementsAre(HasSubstr("'optim'")));
  EXPECT_THAT(optimizer.numbered(), ElementsAre(true));
}

TEST(OptimizerRepair, LeavesKeysAloneWhenParametersAreNamed) {
  for (const bool old_layout : {false, true}) {
    Optimizer optimizer;
    optimizer.add_state("0");  // a parameter whose name is a digit
    old_layout ? optimizer.add_groups(false) : optimizer.add_params(false);
    EXPECT_THAT(optimizer.repair(), IsEmpty());
    EXPECT_THAT(optimizer.numbered(), ElementsAre(false));
  }
}

TEST(OptimizerRepair, PutsTheEmptyStateBack) {
  for (const bool old_layout : {false, true}) {
    Optimizer optimizer;
    old_layout ? optimizer.add_groups(true) : optimizer.add_params(true);
    EXPECT_THAT(optimizer.repair(), ElementsAre(HasSubstr("the empty dict that DCP dropped")));
    ASSERT_NE(optimizer.state(), StateTree::kNowhere);
    EXPECT_EQ(optimizer.tree().kind(optimizer.state()), StateTree::Kind::dict);
    EXPECT_EQ(optimizer.tree().children(optimizer.tree().child(StateTree::kRoot, "optim"))[0].key.text, "state");
  }
}

TEST(OptimizerRepair, LeavesOptimizersAloneThatAreNotSelected) {
  Optimizer optimizer;
  optimizer.add_state("0");
  optimizer.add_params(true);
  EXPECT_THAT(optimizer.repair({.keep = {"optim.state.*"}}), IsEmpty());
}

TEST(OptimizerRepair, LeavesDictsWithoutGroupsAlone) {
  Optimizer optimizer;
  optimizer.add_state("0");
  EXPECT_THAT(optimizer.repair(), IsEmpty());
}

TEST(OptimizerRepair, ATensorNamedParamGroupsIsNoOptimizer) {
  const TempDir directory;
  DcpBuilder builder;
  builder.add("model.param_groups", sample_values("int8", {1}), {{.offsets = {0}, .sizes = {1}}},
              {"model", "param_groups"});
  builder.write(directory);
  Checkpoint checkpoint = open_dcp(directory.path());
  Selection selection = select(checkpoint.data(), {});
  EXPECT_THAT(repair_optimizers(checkpoint.data(), selection), IsEmpty());
}

}  // namespace
}  // namespace fsdpckpt
