// What a fuzz target is: one function that takes any bytes and judges them.
#pragma once

#include <fsdpckpt/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/bytes.h"
#include "base/exit_code.h"

namespace fsdpckpt::fuzz {

using Input = std::span<const std::uint8_t>;

/// 0 when the input is accepted, otherwise the exit code of the Error that refuses it. Anything else that goes wrong
/// aborts. Each target defines it.
int judge(Input input);

/// A bug of ours, found.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline Bytes bytes_of(Input input) { return {reinterpret_cast<const std::byte*>(input.data()), input.size()}; }

/// The verdict of `call`: 0, or the exit code of what it throws. An input can only be malformed or refused.
template <class Call>
int verdict_of(const Call& call) {
  try {
    call();
    return kExitDone;
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::input || error.kind() == ErrorKind::refused);
    return exit_code(error.kind());
  }
}

/// Numbers taken from the front of an input; zeros when it is used up.
class Taker {
 public:
  explicit Taker(Input input) : input_(input) {}
  std::uint8_t byte() {
    if (input_.empty()) return 0;
    const std::uint8_t value = input_.front();
    input_ = input_.subspan(1);
    return value;
  }
  /// Little-endian.
  std::uint64_t wide() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  [[nodiscard]] bool empty() const { return input_.empty(); }
  [[nodiscard]] Input rest() const { return input_; }

 private:
  Input input_;
};

}  // namespace fsdpckpt::fuzz
