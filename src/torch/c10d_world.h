// A Communicator over c10d: Gloo, met through a TCPStore. The only header of the folder that includes LibTorch nowhere
// but in its source.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "dist/communicator.h"
#include "dist/rank_environment.h"

namespace fsdpckpt {

/// Meets the other ranks. Throws Error(ranks) when they do not come within `timeout`, which is also how long every
/// later collective may take.
std::unique_ptr<Communicator> meet_world(const RankEnvironment& environment, std::chrono::milliseconds timeout);

/// "2.13.0"
std::string libtorch_version();

}  // namespace fsdpckpt
