// By which of its addresses this host is seen from another.
#pragma once

#include <cstdint>
#include <string>

namespace fsdpckpt {

/// The address from which packets to `address` leave, as numbers: right on every host that reaches it, whatever the
/// hosts' own names lead to. Nothing is sent. Empty when there is no way.
std::string local_address_towards(const std::string& address, std::uint16_t port);

}  // namespace fsdpckpt
