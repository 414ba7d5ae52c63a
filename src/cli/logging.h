// What -v and FSDPCKPT_LOG show on stderr: files opened, plan sizes, times.
#pragma once

#include "cli/command_line.h"

namespace fsdpckpt {

/// Sends spdlog to stderr: level info with -v, otherwise as FSDPCKPT_LOG says (trace, debug, info, warn, error, off),
/// by default off. Throws Error(usage) for another value of FSDPCKPT_LOG.
void start_logging(const GlobalOptions& options);

}  // namespace fsdpckpt
