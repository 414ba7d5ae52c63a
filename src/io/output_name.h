// The names of an output's temporaries: `.NAME.fsdpckpt-PID-RAND.tmp` beside the target.
#pragma once

#include <string>
#include <string_view>

namespace fsdpckpt {

inline constexpr std::string_view kTemporarySuffix = ".tmp";

/// The last component of `target`.
std::string name_of(const std::string& target);

/// ".NAME.fsdpckpt-", with which every temporary of `target` starts.
std::string temporary_prefix(const std::string& target);

}  // namespace fsdpckpt
