// A name's addresses.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

namespace fsdpckpt {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// The addresses of `name` for sockets of this type (SOCK_STREAM, SOCK_DGRAM). Throws Error(ranks) when there are none.
Addresses resolve(const std::string& name, std::uint16_t port, int socket_type);

}  // namespace fsdpckpt
