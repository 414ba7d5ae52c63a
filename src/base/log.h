// What -v and FSDPCKPT_LOG show: one line of what is done, for the people who look. Silent unless the program has set
// up the logger "fsdpckpt"; a program that links the library decides for itself.
#pragma once

#include <string>

namespace fsdpckpt {

/// True when somebody listens, for lines that cost something to make.
bool is_logging();

/// One line at level info.
void log_info(const std::string& line);

}  // namespace fsdpckpt
