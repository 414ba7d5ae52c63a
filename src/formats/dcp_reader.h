// Reads a DCP directory (.metadata, or rank-local __R.metadata files, __R_N.distcp, meta.pt) into a Checkpoint.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <memory>
#include <string>
#include <vector>

#include "formats/dcp_folder.h"
#include "io/source.h"

namespace fsdpckpt {

/// Opens the sharded checkpoint in `directory`, whose files may also lie in `others`. Checks what needs no payload:
/// every path stays inside, every stored item lies inside its file. Throws Error(input) for missing, cut or malformed
/// files and Error(refused) for hostile metadata.
/// With `shared`, all ranks of a run open it together, see io/shared_files.h; sharing ends when FileSet::end_sharing()
/// is called.
Checkpoint open_dcp(const std::string& directory, const std::vector<std::string>& others = {},
                    SharedFiles* shared = nullptr);

/// The same for a .metadata that lies elsewhere; only the other files are looked for in `directory`.
Checkpoint open_dcp(const std::string& directory, const Source& metadata);

/// True when the directory holds .metadata or rank-local metadata.
bool is_dcp(const FileSet& files);

}  // namespace fsdpckpt
