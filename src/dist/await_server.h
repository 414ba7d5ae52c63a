// Waiting for a server that may start later than its clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fsdpckpt {

/// Returns when something at `address` takes connections on `port`. Throws Error(ranks) after `timeout`, and for an
/// address that cannot be resolved.
void await_server(const std::string& address, std::uint16_t port, std::chrono::milliseconds timeout);

}  // namespace fsdpckpt
