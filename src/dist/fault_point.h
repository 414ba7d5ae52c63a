// Where tests make a rank fail.
#pragma once

#include <string_view>

namespace fsdpckpt {

/// With FSDPCKPT_FAULT="RANK:STAGE:ACTION" in the environment, this rank dies (KILL), stops (STOP) or exits with 1
/// (EXIT) when it comes to that stage. Does nothing otherwise.
void fault_point(int rank, std::string_view stage);

/// With FSDPCKPT_FAULT="RANK:shard:FLIP", that rank; -1 otherwise. It is an FSDP rank of a round trip.
int flipped_rank();

}  // namespace fsdpckpt
