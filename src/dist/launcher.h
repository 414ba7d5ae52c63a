// Launches the ranks of a run on this machine and watches over them: by exec, since a fork after LibTorch has started
// threads is not safe.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace fsdpckpt {

struct LaunchOptions {
  std::string program;                 ///< path of the rank program
  std::vector<std::string> arguments;  ///< of every rank, without the program's name
  int ranks = 1;
  std::chrono::milliseconds timeout{300'000};
  const std::atomic<int>* stop = nullptr;  ///< the number of a signal that is to end the run
};

/// Runs the ranks to their end; returns when all ended with 0, be it in spite of `stop`. Each gets FSDPCKPT_RANK,
/// FSDPCKPT_WORLD_SIZE, FSDPCKPT_LOCAL_RANK, FSDPCKPT_RUN and FSDPCKPT_CONTROL, dies with this process
/// (PR_SET_PDEATHSIG: the calling thread), and leads a process group of its own, out of the terminal's reach. Standard
/// input is empty; what ranks above 0 write to standard error is shown only when they die. When one fails, is killed or
/// stays away, the others are ended (SIGTERM, then SIGKILL), the temporary files that ranks named are removed, and one
/// error is thrown: what killed a rank before what a rank reported, a reported error before one of kind `ranks`, which
/// mostly tells that another rank is gone.
///
/// Throws Error(ranks) "rank 2 was killed by signal 9 (out of memory?) while copying ..."; a rank's own error with
/// Where::rank set; Error(interrupted or terminated) when `stop` was set; Error(io) when a rank cannot be started.
/// All is over `timeout` + 5 s after a rank stopped answering.
/// Returns kExitDone, or kExitAnswerIsNo where the first rank answered so.
int launch_ranks(const LaunchOptions& options);

}  // namespace fsdpckpt
