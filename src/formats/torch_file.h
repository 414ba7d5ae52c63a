// Reads one torch file (torch.save's zip archive) into a Checkpoint.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <string>

namespace fsdpckpt {

/// Opens the file; every tensor becomes an entry of one chunk, everything else object entries, named by their path.
/// Lists are descended when they hold a tensor or a dict, tuples never, as DCP does. Throws Error(input) when it is no
/// such file.
Checkpoint open_torch_file(const std::string& directory, const std::string& file_name);

}  // namespace fsdpckpt
