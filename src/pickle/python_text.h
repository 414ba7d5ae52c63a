// Checks texts of pickles.
#pragma once

#include <string_view>

namespace fsdpckpt::pickle {

/// True when `text` is UTF-8 as Python's 'surrogatepass' writes it: well-formed but for lone surrogates (U+D800 to
/// U+DFFF as three bytes), which are allowed.
bool is_python_text(std::string_view text);

}  // namespace fsdpckpt::pickle
