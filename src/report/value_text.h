// A pickled Python value as short text for people: shown, never run.
#pragma once

#include <cstddef>
#include <string>

#include "pickle/value.h"

namespace fsdpckpt {

/// Like Python's repr; an object is its class and what is known of it ("argparse.Namespace(...)"), a tensor
/// "tensor float32 [3]". What goes beyond about `limit` bytes is counted: "[1, 2, … 998 more]", "'abc… 500 more'".
/// Control characters are escaped.
std::string value_text(const pickle::Values& values, pickle::NodeId node, std::size_t limit = 60);

}  // namespace fsdpckpt
