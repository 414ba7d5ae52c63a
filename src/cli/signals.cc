#include "cli/signals.h"

#include <csignal>
#include <initializer_list>

namespace fsdpckpt {
namespace {

std::atomic<int> received{0};  // a signal handler can reach nothing else
static_assert(std::atomic<int>::is_always_lock_free);

// A terminal that closes ends a run as SIGTERM does.
extern "C" void remember(int signal) { received.store(signal == SIGHUP ? SIGTERM : signal); }

/// Keeps a signal ignored that was ignored at the start, as nohup and a shell's background jobs want it.
void handle(int signal) {
  struct sigaction action = {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = remember;
  sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<int>& install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal);
  return received;
}

void turn_signals_into_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace fsdpckpt
