#include "pickle/python_text.h"

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/utf8.h"

namespace fsdpckpt::pickle {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

/// Length of the run of ASCII at the start of `text`, or up to 7 less.
std::size_t ascii_words(std::string_view text) {
  const Bytes bytes = as_bytes(text);
  std::size_t at = 0;
  while (bytes.size() - at >= 8 && (load_le<std::uint64_t>(bytes.data() + at) & kHighBits) == 0) at += 8;
  return at;
}

bool is_surrogate(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  return text.size() - at >= 3 && byte(0) == 0xed && byte(1) >= 0xa0 && byte(1) < 0xc0 && (byte(2) & 0xc0U) == 0x80;
}

}  // namespace

bool is_python_text(std::string_view text) {
  std::size_t at = ascii_words(text);
  while (at < text.size()) {
    if (static_cast<std::uint8_t>(text[at]) < 0x80) {
      ++at;
    } else if (const Utf8Character character = utf8_at(text, at); character.valid) {
      at += character.length;
    } else if (is_surrogate(text, at)) {
      at += 3;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace fsdpckpt::pickle
