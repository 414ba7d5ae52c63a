// Reads and checks the arguments of opcodes, the same way for the scan and for the machine.
#pragma once

#include <fsdpckpt/error.h>

#include <cstdint>
#include <string>

#include "io/byte_reader.h"
#include "pickle/opcode.h"

namespace fsdpckpt::pickle {

/// The longest module or name of a GLOBAL, in bytes.
inline constexpr std::size_t kLongestLine = 4096;

/// `error` with the offset of the opcode that was being read, unless it has one.
Error at_offset(const Error& error, std::uint64_t offset);

/// Throws Error(input) naming the opcode whose code is `op` and its place.
[[noreturn]] void throw_unsupported_opcode(std::uint8_t op, std::uint64_t offset);

/// The argument of PROTO; Error(input) beyond kHighestProtocol.
void check_protocol(std::uint8_t protocol);

/// Error(input) when `length` bytes cannot follow.
void check_length(std::uint64_t length, const ByteReader& bytes);

template <class T>
T read_number(ByteReader& bytes) {
  return load_le<T>(bytes.take(sizeof(T)));
}

/// A length of type T, checked against what remains.
template <class T>
std::uint64_t read_length(ByteReader& bytes) {
  const std::uint64_t length = read_number<T>(bytes);
  if (length > ByteReader::kMaxView) check_length(length, bytes);  // a shorter run is checked when it is taken
  return length;
}

/// A text up to a newline, which is not kept.
void read_line(ByteReader& bytes, std::string& line);

void skip_long_argument(ByteReader& bytes, Argument argument);

/// Passes over the argument of a supported opcode.
inline void skip_argument(ByteReader& bytes, Argument argument) {
  if (argument > Argument::eight) return skip_long_argument(bytes, argument);
  bytes.take(static_cast<std::size_t>(argument));
}

}  // namespace fsdpckpt::pickle
