// How FSDP cuts a parameter over the ranks of a world: ceil(rows / world size) rows of dimension 0 each, the last ones
// fewer or none, all padded to the same length for the collectives. Source: torch.distributed.fsdp._fully_shard,
// FSDPParam._init_sharded_param (torch.chunk, padded to the first chunk's size).
#pragma once

#include <algorithm>
#include <cstdint>

namespace fsdpckpt {

/// Of one parameter, in bytes of its row-major elements.
struct FsdpShards {
  std::uint64_t total = 0;   ///< of the parameter
  std::uint64_t padded = 0;  ///< of every rank's shard with its padding

  /// `rows`: size of dimension 0, 1 for a parameter without dimensions.
  FsdpShards(std::uint64_t bytes, std::uint64_t rows, std::uint64_t world_size)
      : total(bytes), padded(rows == 0 ? 0 : (rows + world_size - 1) / world_size * (bytes / rows)) {}

  [[nodiscard]] std::uint64_t begin(std::uint64_t rank) const { return std::min(total, rank * padded); }
  [[nodiscard]] std::uint64_t end(std::uint64_t rank) const { return std::min(total, (rank + 1) * padded); }
};

}  // namespace fsdpckpt
