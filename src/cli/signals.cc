#include "cli/signals.h"

#include <csignal>

namespace fsdpckpt {
namespace {

std::atomic<int> received{0};  // a signal handler can reach nothing else
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void remember(int signal) { received.store(signal); }

}  // namespace

const std::atomic<int>& install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = remember;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return received;
}

}  // namespace fsdpckpt
