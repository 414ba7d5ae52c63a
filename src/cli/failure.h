// How both programs end when something fails: one message, one JSON document where one was asked for, one exit code.
#pragma once

#include <fsdpckpt/error.h>

#include <functional>

#include "cli/command_line.h"

namespace fsdpckpt {

/// Prints an error and returns its exit code.
int fail(const CommandLine& line, const Error& error);

/// What `run` returns, or the exit code of what it throws, which is printed.
int exit_code_of(const CommandLine& line, const std::function<int()>& run);

}  // namespace fsdpckpt
