#include "dist/local_address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error_of.h"
#include "dist/await_server.h"
#include "io/descriptor.h"

namespace fsdpckpt {
namespace {

using std::chrono::milliseconds;

/// A socket of this process on loopback, at a port of the system's choice.
struct Listener {
  explicit Listener(bool listens) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(socket.number(), reinterpret_cast<sockaddr*>(&at), size), 0);
    if (listens) {
      EXPECT_EQ(::listen(socket.number(), 1), 0);
    }
    EXPECT_EQ(::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port = ntohs(at.sin_port);
  }
  Descriptor socket;
  std::uint16_t port = 0;
};

TEST(LocalAddress, TowardsLoopbackIsLoopback) {
  EXPECT_EQ(local_address_towards("127.0.0.1", 1), "127.0.0.1");
  EXPECT_EQ(local_address_towards("127.0.0.5", 1), "127.0.0.1");
}

TEST(LocalAddress, OfANameThatDoesNotExistIsAnError) {
  EXPECT_EQ(error_of([] { static_cast<void>(local_address_towards("no-such-host.invalid", 1)); }).kind(),
            ErrorKind::ranks);
}

TEST(AwaitServer, ReturnsWhenThereIsOne) {
  const Listener server(true);
  await_server("127.0.0.1", server.port, milliseconds(2000));
}

TEST(AwaitServer, SaysWhereNobodyAnsweredInTime) {
  const Listener silent(false);
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of([&] { await_server("127.0.0.1", silent.port, milliseconds(300)); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(error.kind(), ErrorKind::ranks);
  EXPECT_EQ(error.what(), "nobody answers at 127.0.0.1:" + std::to_string(silent.port) +
                              " after 300 ms: rank 0 did not come, or it cannot be reached from here");
}

}  // namespace
}  // namespace fsdpckpt
