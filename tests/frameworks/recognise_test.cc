#include "frameworks/recognise.h"

#include <gtest/gtest.h>

#include "formats/dcp_reader.h"

namespace fsdpckpt {
namespace {

/// Whose a checkpoint of these objects is; each path is a top-level key, or "a/b".
std::string_view framework_of_keys(const std::vector<std::string>& paths, bool has_meta = false) {
  Checkpoint checkpoint;
  checkpoint.data().kind = "sharded checkpoint";
  for (const std::string& path : paths) {
    const std::size_t slash = path.starts_with("rng_state/") ? std::string::npos : path.find('/');
    std::vector<Key> keys = {{.text = std::string_view(path).substr(0, slash)}};
    if (slash != std::string::npos) keys.push_back({.text = std::string_view(path).substr(slash + 1)});
    checkpoint.data().tree.insert(keys, checkpoint.data().index.add_object(path));
  }
  if (has_meta) checkpoint.data().files.push_back({.path = "meta.pt"});
  return framework_of(checkpoint.data());
}

TEST(FrameworkOf, LightningTrainerLeavesItsVersion) {
  EXPECT_EQ(framework_of_keys({"state_dict", "pytorch-lightning_version"}, true), "Lightning Trainer");
}

TEST(FrameworkOf, FabricLeavesAMetaPt) { EXPECT_EQ(framework_of_keys({"model"}, true), "Lightning Fabric"); }

TEST(FrameworkOf, TorchtitanLeavesTrainStateAndDataloader) {
  EXPECT_EQ(framework_of_keys({"train_state", "dataloader", "w"}), "torchtitan");
  EXPECT_EQ(framework_of_keys({"train_state", "w"}), "");
}

TEST(FrameworkOf, ComposerLeavesAStateWithATimestamp) {
  EXPECT_EQ(framework_of_keys({"state/timestamp", "state/model"}), "Composer");
}

TEST(FrameworkOf, MegatronLeavesShardsOfRandomStates) {
  EXPECT_EQ(framework_of_keys({"w", "rng_state/shard_0_1"}), "Megatron-core");
}

TEST(FrameworkOf, NothingTells) {
  EXPECT_EQ(framework_of_keys({}), "");
  EXPECT_EQ(framework_of_keys({"model", "optim"}), "");
}

TEST(FrameworkOf, RealFabricCheckpointsAreKnown) {
  const Checkpoint checkpoint = open_dcp(std::string(FSDPCKPT_TESTDATA) + "/lightning-2.6.6/fabric_fsdp");
  EXPECT_EQ(framework_of(checkpoint.data()), "Lightning Fabric");
}

}  // namespace
}  // namespace fsdpckpt
