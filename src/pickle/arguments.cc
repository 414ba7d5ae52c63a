#include "pickle/arguments.h"

#include <fsdpckpt/error.h>

#include "base/text.h"

namespace fsdpckpt::pickle {
namespace {

void skip_line(ByteReader& bytes) {
  for (std::size_t length = 0; bytes.next() != std::byte{'\n'}; ++length) {
    if (length == kLongestLine) throw Error(ErrorKind::input, "the name of a global is too long");
  }
}

}  // namespace

Error at_offset(const Error& error, std::uint64_t offset) {
  Where where = error.where();
  if (!where.offset) where.offset = offset;
  return {error.kind(), error.what(), where, error.hint()};
}

void throw_unsupported_opcode(std::uint8_t op, std::uint64_t offset) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string code = {kDigits[op >> 4U], kDigits[op & 15U]};
  throw Error(ErrorKind::input, cat("unsupported opcode 0x", code, " at offset ", offset), Where{.offset = offset});
}

void check_protocol(std::uint8_t protocol) {
  if (protocol <= kHighestProtocol) return;
  throw Error(ErrorKind::input, cat("unsupported pickle protocol ", protocol, ", at most ", kHighestProtocol));
}

void check_length(std::uint64_t length, const ByteReader& bytes) {
  if (length <= bytes.remaining()) return;
  throw Error(ErrorKind::input, cat("a length of ", length, " bytes where ", bytes.remaining(), " remain"));
}

void read_line(ByteReader& bytes, std::string& line) {
  line.clear();
  for (std::byte next = bytes.next(); next != std::byte{'\n'}; next = bytes.next()) {
    if (line.size() == kLongestLine) throw Error(ErrorKind::input, "the name of a global is too long");
    line.push_back(static_cast<char>(next));
  }
}

void skip_long_argument(ByteReader& bytes, Argument argument) {
  const auto skip = [&bytes](std::uint64_t length) {
    if (length <= ByteReader::kMaxView) {
      bytes.take(length);
    } else {
      bytes.skip(length);
    }
  };
  switch (argument) {
    case Argument::length1:
      return skip(read_length<std::uint8_t>(bytes));
    case Argument::length4:
      return skip(read_length<std::uint32_t>(bytes));
    case Argument::length8:
      return skip(read_length<std::uint64_t>(bytes));
    case Argument::two_lines:
      skip_line(bytes);
      return skip_line(bytes);
    default:
      return;
  }
}

}  // namespace fsdpckpt::pickle
