// The subcommands. Each returns the exit code and throws Error.
#pragma once

#include "cli/command_line.h"
#include "exec/world_consolidate.h"

namespace fsdpckpt {

int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command);
/// By the ranks of a world; the first prints.
int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command, Communicator& world,
                    const WorldEvents& events);
/// By the ranks of a world; the first prints.
int run_verify(const GlobalOptions& global, const VerifyCommand& command, Communicator& world,
               const WorldEvents& events);
int run_inspect(const GlobalOptions& global, const InspectCommand& command);

}  // namespace fsdpckpt
