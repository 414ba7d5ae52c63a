#include "exec/anonymous_memory.h"

#include <fstream>
#include <string>

namespace fsdpckpt {

std::uint64_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace fsdpckpt
