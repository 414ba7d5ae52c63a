// What an index promises and the files beside it cannot give: rank files that are missing, cut or no regular files,
// and chunks that no file holds. Found while opening, collected and not thrown, so that the rest can be shown.
#pragma once

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Fills `file_problems` and appends to `damages`: what is refused for safety first, then one error that names all
/// missing and short files, then the first chunk without a file. Looks at sizes only.
void find_damages(Checkpoint::Data& data);

}  // namespace fsdpckpt
