// The subcommands. Each returns the exit code and throws Error.
#pragma once

#include "cli/command_line.h"

namespace fsdpckpt {

int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command);
int run_inspect(const GlobalOptions& global, const InspectCommand& command);

}  // namespace fsdpckpt
