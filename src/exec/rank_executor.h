// Fills a planned torch file by a world of ranks: each writes its tiles, reads what it can reach itself, and gets the
// rest through the exchange. Memory is a few buckets a rank, whatever the checkpoint's size.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dist/communicator.h"
#include "exec/executor.h"
#include "exec/rounds.h"

namespace fsdpckpt {

struct RankExecutorOptions {
  RoundLimits limits;
  ReadOptions read;
  bool send_always = false;     ///< every piece goes through the exchange
  std::vector<bool> can_write;  ///< by rank; the first must
  const std::atomic<int>* stop = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< of all ranks together
};

/// What the ranks moved; the same on all of them but for `here`.
struct RankCounts {
  ExecutorCounts counts;  ///< on the first rank only
  std::uint64_t rounds = 0;
  struct Here {
    std::uint64_t read = 0, sent = 0, received = 0, written = 0;  ///< bytes
    std::uint64_t peak_anon_bytes = 0;
  } here;
};

/// Writes this rank's part of the file through `sink`; headers of large records and the directory are the first rank's.
/// One rank's error is thrown by all.
RankCounts write_torch_file(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink,
                            Communicator& world, const RankExecutorOptions& options);

}  // namespace fsdpckpt
