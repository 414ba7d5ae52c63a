// How much of each file the index uses. For inspect; looks at no payload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

struct FileUse {
  enum class State : std::uint8_t { whole, missing, cut, unreadable, unreferenced };
  std::string path;              ///< relative to the root
  std::uint64_t size = 0;        ///< bytes; 0 when missing
  bool is_counted = false;       ///< a rank file: the next two are known
  std::uint64_t referenced = 0;  ///< bytes that entries need, shared ones once; also those that are not there
  std::uint64_t unreferenced = 0;
  State state = State::whole;
  std::uint64_t needed = 0;  ///< missing or cut: the end of the last item it should hold
};

/// The files of a checkpoint in their order, then the rank files beside them that nothing refers to.
std::vector<FileUse> file_uses(const Checkpoint::Data& checkpoint);

}  // namespace fsdpckpt
