#include "dist/local_address.h"

#include <sys/socket.h>

#include <array>

#include "dist/resolved.h"
#include "io/descriptor.h"

namespace fsdpckpt {

std::string local_address_towards(const std::string& address, std::uint16_t port) {
  const Addresses addresses = resolve(address, port, SOCK_DGRAM);
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    const Descriptor socket(::socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own = {};
    socklen_t size = sizeof own;
    auto* const place = reinterpret_cast<sockaddr*>(&own);  // as the interface of sockets wants it
    if (!socket.is_open() || ::connect(socket.number(), at->ai_addr, at->ai_addrlen) != 0) continue;
    if (::getsockname(socket.number(), place, &size) != 0) continue;
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(place, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) return text.data();
  }
  return {};
}

}  // namespace fsdpckpt
