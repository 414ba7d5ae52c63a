// The texts of --help: at most 24 lines each, options in groups, three examples, the man page's name.
#pragma once

#include <string_view>

namespace fsdpckpt {

/// Of a command, or of the program when `command` is empty or unknown.
std::string_view help_text(std::string_view command);

}  // namespace fsdpckpt
