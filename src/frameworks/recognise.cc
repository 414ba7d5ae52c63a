#include "frameworks/recognise.h"

#include <algorithm>

namespace fsdpckpt {

std::string_view framework_of(const Checkpoint::Data& checkpoint) {
  const auto has = [&](std::string_view key) {
    return checkpoint.tree.child(StateTree::kRoot, key) != StateTree::kNowhere;
  };
  const bool has_meta =
      checkpoint.kind == "sharded checkpoint" &&
      std::ranges::any_of(checkpoint.files, [](const SourceFile& file) { return file.path == "meta.pt"; });
  if (has("pytorch-lightning_version")) return "Lightning Trainer";
  if (has_meta) return "Lightning Fabric";  // Fabric knows a sharded checkpoint by its meta.pt alone
  if (has("train_state") && has("dataloader")) return "torchtitan";
  const StateTree::Node state = checkpoint.tree.child(StateTree::kRoot, "state");
  if (state != StateTree::kNowhere && checkpoint.tree.child(state, "timestamp") != StateTree::kNowhere)
    return "Composer";
  for (EntryId id = 0; id < checkpoint.index.entry_count(); ++id) {
    if (checkpoint.index.entry(id).name.starts_with("rng_state/shard_")) return "Megatron-core";
  }
  return {};
}

}  // namespace fsdpckpt
