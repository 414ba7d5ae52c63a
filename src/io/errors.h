// The Errors that several files of this layer throw.
#pragma once

#include <fsdpckpt/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fsdpckpt {

/// Error(io) "cannot read: Input/output error": what was tried, the system's text for `number`, the path.
Error system_error(std::string_view doing, int number, std::string path);

/// Error(input) "file is too short: bytes 8..20 are needed, it has 15"; `what` is "file", "slice" ...
Error too_short(std::string_view what, std::uint64_t offset, std::uint64_t length, std::uint64_t size,
                std::string path);

}  // namespace fsdpckpt
