// One character at a time from text that may not be UTF-8: names in files are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fsdpckpt {

struct Utf8Character {
  std::uint32_t code;  ///< code point; the byte itself when not `valid`
  std::size_t length;  ///< bytes taken; 1 when not `valid`
  bool valid;          ///< false for a byte that starts no well-formed sequence
};

/// The character at `text[at]`, with `at` < text.size(). Overlong forms, surrogates and numbers above
/// U+10FFFF are not well-formed.
Utf8Character utf8_at(std::string_view text, std::size_t at);

}  // namespace fsdpckpt
