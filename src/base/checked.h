// Arithmetic on values that came from a file: every overflow is an input error, never a wrap.
#pragma once

#include <fsdpckpt/error.h>

#include <cstdint>
#include <string>

namespace fsdpckpt {

[[noreturn]] inline void throw_overflow(const char* what) {
  throw Error(ErrorKind::input, std::string(what) + " is too large for 64 bits");
}

/// a + b; `what` names the quantity in the error ("offset of a chunk").
template <class T>
T checked_add(T a, T b, const char* what) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow(what);
  return result;
}

/// a * b; see checked_add.
template <class T>
T checked_mul(T a, T b, const char* what) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow(what);
  return result;
}

/// A non-negative int64 as uint64; negative is an input error.
inline std::uint64_t checked_size(std::int64_t value, const char* what) {
  if (value < 0) throw Error(ErrorKind::input, std::string(what) + " is negative: " + std::to_string(value));
  return static_cast<std::uint64_t>(value);
}

}  // namespace fsdpckpt
