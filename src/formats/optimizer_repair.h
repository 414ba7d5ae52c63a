// Two things that DCP loses of an optimizer's state dict without a word, repaired when one file is made of it:
// int keys of `state`, which DCP stores as text, and a `state` that was empty, which DCP drops.
#pragma once

#include <string>
#include <vector>

#include "formats/selection.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Repairs every optimizer (a dict with `param_groups`) in which something is selected. Returns a note for each repair.
std::vector<std::string> repair_optimizers(Checkpoint::Data& checkpoint, Selection& selection);

}  // namespace fsdpckpt
