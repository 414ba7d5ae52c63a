// Whose checkpoint it is, by the entries it holds.
#pragma once

#include "model/checkpoint_data.h"

#include <string_view>

namespace fsdpckpt {

/// "Lightning Trainer", "Lightning Fabric", "torchtitan", "Composer", "Megatron-core", or empty when nothing tells.
std::string_view framework_of(const Checkpoint::Data& checkpoint);

}  // namespace fsdpckpt
