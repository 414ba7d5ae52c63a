#include "exec/stop.h"

#include <fsdpckpt/error.h>

#include <csignal>

namespace fsdpckpt {

void throw_if_stopped(const std::atomic<int>* stop) {
  const int signal = stop == nullptr ? 0 : stop->load();
  if (signal == 0) return;
  if (signal == SIGTERM) throw Error(ErrorKind::terminated, "terminated; nothing was left behind");
  throw Error(ErrorKind::interrupted, "interrupted; nothing was left behind");
}

}  // namespace fsdpckpt
