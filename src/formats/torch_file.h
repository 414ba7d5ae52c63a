// Reads one torch file (torch.save's zip archive) into a Checkpoint.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <string>

#include "io/source.h"

namespace fsdpckpt {

/// Opens the file; every tensor becomes an entry of one chunk, everything else object entries, named by their path.
/// Lists are descended when they hold a tensor or a dict, tuples never, as DCP does. Throws Error(input) when it is no
/// such file.
Checkpoint open_torch_file(const std::string& directory, const std::string& file_name);

/// The same from bytes that lie elsewhere, in memory for instance: everything but the payloads, which are read from
/// files only (there is no FileSet).
Checkpoint open_torch_file(const Source& bytes);

}  // namespace fsdpckpt
