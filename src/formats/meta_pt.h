// Lightning's meta.pt beside the shards: a torch.save file of a dict with everything that is neither module nor
// optimizer. Its entries become object entries at the top level of the state dict.
#pragma once

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Adds the entries of meta.pt, if the directory has one. Throws Error(input) naming the key when one is a key of the
/// sharded part too: merging would silently replace one of them.
void add_meta_pt(Checkpoint::Data& data);

}  // namespace fsdpckpt
