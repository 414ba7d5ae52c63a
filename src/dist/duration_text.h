// Times for people.
#pragma once

#include <chrono>
#include <string>

#include "base/text.h"

namespace fsdpckpt {

/// "10 s", "1500 ms".
inline std::string duration_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? cat(count / 1000, " s") : cat(count, " ms");
}

}  // namespace fsdpckpt
