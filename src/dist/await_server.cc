#include "dist/await_server.h"

#include <fsdpckpt/error.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/text.h"
#include "dist/duration_text.h"
#include "dist/resolved.h"
#include "io/descriptor.h"

namespace fsdpckpt {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenTries{100};
constexpr milliseconds kTry{1000};

bool takes_connections(const addrinfo& at, milliseconds patience) {
  const Descriptor socket(::socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return false;
  if (::connect(socket.number(), at.ai_addr, at.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd ready{.fd = socket.number(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(patience.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

void await_server(const std::string& address, std::uint16_t port, milliseconds timeout) {
  const Addresses addresses = resolve(address, port, SOCK_STREAM);
  const Clock::time_point deadline = Clock::now() + timeout;
  while (true) {
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (takes_connections(*at, std::clamp(left, milliseconds(1), kTry))) return;
    }
    if (Clock::now() + kBetweenTries >= deadline) break;
    std::this_thread::sleep_for(kBetweenTries);
  }
  throw Error(ErrorKind::ranks, cat("nobody answers at ", address, ":", port, " after ", duration_text(timeout),
                                    ": rank 0 did not come, or it cannot be reached from here"));
}

}  // namespace fsdpckpt
