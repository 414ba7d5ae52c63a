// The two ends of a channel.
#pragma once

#include "io/descriptor.h"
#include "io/file_system.h"

namespace fsdpckpt {

struct DescriptorPair {
  Descriptor first, second;
};

}  // namespace fsdpckpt
