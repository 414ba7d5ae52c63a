// The one table from error kinds to process exit codes (man pages repeat it).
#pragma once

#include <fsdpckpt/error.h>

#include <string_view>

namespace fsdpckpt {

inline constexpr int kExitDone = 0;
inline constexpr int kExitAnswerIsNo = 1;

int exit_code(ErrorKind kind);

/// "usage", "input", "io" ...: the word used in JSON documents.
std::string_view kind_name(ErrorKind kind);

}  // namespace fsdpckpt
