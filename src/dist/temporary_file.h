// The temporary files that a rank names, so that somebody can remove them when the rank no longer can.
#pragma once

#include <string>

namespace fsdpckpt {

/// Removes the file when its name is one of a temporary of ours, `.NAME.fsdpckpt-PID-RAND.tmp`; any other stays, since
/// a name that came over a channel shall not remove what we did not make. Failures are nobody's business any more.
void remove_temporary(const std::string& path) noexcept;

}  // namespace fsdpckpt
