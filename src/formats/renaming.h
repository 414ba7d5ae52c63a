// Gives a checkpoint's parameters other names on the way into an output. A name is the key under which an entry of the
// model stands in its dict, and whatever repeats it in an optimizer: the keys of `state`, the texts in `params`, and
// the middle of the flat keys that torchtitan writes. The nesting stays as it is.
#pragma once

#include <fsdpckpt/convert.h>

#include <string>
#include <vector>

#include "formats/selection.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Renames what is selected; the index keeps the stored names. Returns a note that counts the names. Two names that
/// become one are Error(input) naming both; a prefix or pattern that no name has is Error(usage) naming the nearest.
std::vector<std::string> rename_entries(Checkpoint::Data& data, const Selection& selection, const RenameRules& rules);

}  // namespace fsdpckpt
