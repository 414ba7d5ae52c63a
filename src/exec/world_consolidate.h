// consolidate() by the ranks of a world: one file on the first rank's host, from shards that may lie on any of their
// disks.
#pragma once

#include <fsdpckpt/convert.h>

#include <functional>
#include <string>
#include <string_view>

#include "dist/communicator.h"

namespace fsdpckpt {

/// What the caller is told while a world works.
struct WorldEvents {
  std::function<void(std::string_view stage)> stage;  ///< "rendezvous", "plan", "data", "commit" begins
  std::function<void(const std::string& temporary)>
      temporary;  ///< a file, not there yet, that must go if the run fails
};

/// Every rank calls it, with the same arguments and a checkpoint of open_shared(). The output appears whole or not at
/// all; the report is whole on the first rank. One rank's error is thrown by all.
ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options,
                              Communicator& world, const WorldEvents& events);

}  // namespace fsdpckpt
