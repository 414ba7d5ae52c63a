// Which of the failures of a run is its cause: when one rank fails, the others fail after it.
#pragma once

#include <chrono>
#include <vector>

#include "dist/rank_process.h"

namespace fsdpckpt {

/// True for a rank that was killed, or ended with an exit code other than 0 and no word: not by the launcher.
bool has_died(const RankRecord& rank);

/// The error that tells best why the run failed, with Where::rank set. The first of:
/// 1. the death of a rank (the first one, and of those seen at once one by SIGKILL before any other);
/// 2. a rank that was stopped for `timeout`;
/// 3. what the lowest rank reported, unless of kind `ranks`, which tells of another rank's failure;
/// 4. a rank that is stopped, if not yet for so long; 5. a rank 0 that told no port;
/// 6. the first report of kind `ranks`.
Error choose_error(const std::vector<const RankRecord*>& ranks, std::chrono::milliseconds timeout);

}  // namespace fsdpckpt
