#include "dist/fault_point.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace fsdpckpt {

void fault_point(int rank, std::string_view stage) {
  const char* value = std::getenv("FSDPCKPT_FAULT");
  if (value == nullptr) return;
  const std::string fault(value), here = cat(rank, ":", stage, ":");
  if (!fault.starts_with(here)) return;
  const std::string action = fault.substr(here.size());
  if (action == "KILL") ::raise(SIGKILL);
  if (action == "STOP") ::raise(SIGSTOP);
  if (action == "EXIT") ::_exit(1);
}

int flipped_rank() {
  const char* value = std::getenv("FSDPCKPT_FAULT");
  return value != nullptr && std::string_view(value).ends_with(":shard:FLIP") ? std::atoi(value) : -1;
}

}  // namespace fsdpckpt
