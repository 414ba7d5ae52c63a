// Whose checkpoint it is, by the entries it holds.
#pragma once

#include <string_view>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// "Lightning Trainer", "Lightning Fabric", "torchtitan", "Composer", "Megatron-core", or empty when nothing tells.
std::string_view framework_of(const Checkpoint::Data& checkpoint);

}  // namespace fsdpckpt
