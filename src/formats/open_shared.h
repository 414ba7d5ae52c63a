// Opens a sharded checkpoint that may be spread over the hosts of several ranks.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <string>
#include <vector>

#include "io/shared_files.h"

namespace fsdpckpt {

/// As open_checkpoint() for a directory, by all ranks together: the directory and each of `files_in` need to exist on
/// some host only. All ranks get the same checkpoint or throw the same error. Planning is still done together; then
/// FileSet::end_sharing() is to be called.
Checkpoint open_shared(const std::string& path, const std::vector<std::string>& files_in, SharedFiles& shared);

}  // namespace fsdpckpt
