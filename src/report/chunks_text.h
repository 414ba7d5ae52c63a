// How a tensor is cut, in a few words.
#pragma once

#include <string>

#include "model/index.h"

namespace fsdpckpt {

/// "1" (whole), "2 x dim 0", "2 x dim 0, 4 x dim 1" (a grid), "3 irregular", "2 replicas", "2 x dim 0, replicated"
/// (some chunk is stored more than once), "0". Empty chunks do not count, except of a tensor without elements.
std::string chunks_text(const Index& index, EntryId entry);

}  // namespace fsdpckpt
