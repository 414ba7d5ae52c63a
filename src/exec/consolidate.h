// consolidate() as <fsdpckpt/convert.h> declares it, and with the file system for its output in the caller's hand.
#pragma once

#include <fsdpckpt/convert.h>

#include "io/file_system.h"

namespace fsdpckpt {

/// Writes through `files`, which must outlive the call; the checkpoint itself is read as always.
ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options,
                              FileSystem& files);

}  // namespace fsdpckpt
