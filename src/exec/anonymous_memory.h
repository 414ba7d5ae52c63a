// How much memory this process holds that no file backs.
#pragma once

#include <cstdint>

namespace fsdpckpt {

/// RssAnon of /proc/self/status, in bytes; 0 where it cannot be read.
std::uint64_t anonymous_memory();

}  // namespace fsdpckpt
