// Who does a command's work: this process, ranks that it launches, or the ranks of a launcher that started it.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"

namespace fsdpckpt {

/// Runs the command by ranks where the command line or the environment says so, and returns its exit code; nothing when
/// this process is to do it. Does not return where this process becomes a rank of another launcher. Throws Error(usage)
/// when --ranks meets a launcher's world.
std::optional<int> run_by_ranks(const CommandLine& line, int argc, char** argv);

/// The rank options of the command; null for a command that one process does.
const RankOptions* rank_options(const CommandLine& line);

/// Path of fsdpckpt-rank: beside this program, or in ../libexec/fsdpckpt. Throws Error(usage) when it is in neither.
std::string rank_program();

}  // namespace fsdpckpt
