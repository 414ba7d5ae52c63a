// The FSDP round trip of a checkpoint: would N ranks of fully_shard() get their parameters back bit for bit? Shards are
// all-gathered in flat buckets as FSDP's unshard does, compared with the checkpoint, and reduce-scattered to shards
// again.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace fsdpckpt {

struct RoundTripOptions {
  int world_size = 1;                      ///< FSDP ranks; the processes of the world carry them in blocks
  std::uint64_t bucket_bytes = 8 << 20;    ///< of all ranks' shards together; at least world_size bytes
  const std::atomic<int>* stop = nullptr;  ///< as for consolidate()
  int flipped_rank = -1;  ///< for tests: one byte of this FSDP rank's first shard is not what it should be
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< bytes of parameters
};

struct RoundTripReport {
  std::uint64_t parameters = 0, bytes = 0;
  std::uint64_t gathered_bytes = 0;     ///< through all-gathers, padding included
  std::vector<std::string> mismatches;  ///< names of parameters whose bytes came back otherwise
  double seconds = 0;
  std::string backend;
  int processes = 1;
};

/// Every rank of `world` calls it, and each must be able to read all files; all get the same report. Every tensor is
/// taken for a parameter. Throws what reading throws, on all ranks.
RoundTripReport fsdp_round_trip(Checkpoint& checkpoint, Communicator& world, const RoundTripOptions& options);

}  // namespace fsdpckpt
