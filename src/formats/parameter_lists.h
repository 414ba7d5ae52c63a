// Where a pickled object of an optimizer names its parameters.
#pragma once

#include <vector>

#include "pickle/value.h"

namespace fsdpckpt {

/// The lists of names in `root`, which is `params` of a group (a list of texts) or all `param_groups` as one object
/// (a list of dicts with `params`, torch 2.0 to 2.3). Lists of numbers are not among them.
std::vector<pickle::NodeId> parameter_lists(const pickle::Values& values, pickle::NodeId root);

}  // namespace fsdpckpt
