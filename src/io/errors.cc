#include "io/errors.h"

#include <system_error>

#include "base/text.h"

namespace fsdpckpt {

Error system_error(std::string_view doing, int number, std::string path) {
  return Error(ErrorKind::io, cat("cannot ", doing, ": ", std::system_category().message(number)),
               {.path = std::move(path)});
}

Error too_short(std::string_view what, std::uint64_t offset, std::uint64_t length, std::uint64_t size,
                std::string path) {
  const std::uint64_t end = length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
  return Error(ErrorKind::input, cat(what, " is too short: bytes ", offset, "..", end, " are needed, it has ", size),
               {.path = std::move(path)});
}

}  // namespace fsdpckpt
