#include "dist/resolved.h"

#include <fsdpckpt/error.h>

#include "base/text.h"

namespace fsdpckpt {

Addresses resolve(const std::string& name, std::uint16_t port, int socket_type) {
  addrinfo hints = {};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == 0) return {found, [](addrinfo* list) { ::freeaddrinfo(list); }};
  throw Error(ErrorKind::ranks,
              cat("the address of rank 0's host is unknown: ", quote(name), ": ", ::gai_strerror(error)));
}

}  // namespace fsdpckpt
