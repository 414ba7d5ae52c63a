// escape and quote; the other functions of text.h are in sizes.cc, glob.cc, nearest.cc and shell_word.cc.
#include "base/text.h"

#include "base/utf8.h"

namespace fsdpckpt {
namespace {

constexpr std::size_t kMaxQuoted = 200;

std::string hex_escape(char kind, std::uint32_t code, int digits) {
  std::string result{'\\', kind};
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) result.push_back("0123456789abcdef"[code >> shift & 15]);
  return result;
}

/// Characters that change the direction of text, or that nobody sees.
bool is_hidden(std::uint32_t code) {
  return code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xe0000 && code <= 0xe0fff);
}

std::string escaped_character(std::string_view text, std::size_t at, Utf8Character character) {
  const std::uint32_t code = character.code;
  if (!character.valid) return hex_escape('x', code, 2);
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  if (code == '\\') return "\\\\";
  if (code < 0x20 || code == 0x7f) return hex_escape('x', code, 2);
  if (code > 0xffff && is_hidden(code)) return hex_escape('U', code, 8);
  if ((code >= 0x80 && code < 0xa0) || is_hidden(code)) return hex_escape('u', code, 4);
  return std::string(text.substr(at, character.length));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    result += escaped_character(text, at, character);
    at += character.length;
  }
  return result;
}

std::string quote(std::string_view text) {
  std::string result = "'";
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    // A quote inside would let a name end its own quotation and speak for the program.
    const std::string part = text[at] == '\'' ? "\\'" : escaped_character(text, at, character);
    const bool as_is = part.size() == character.length;
    shown += as_is ? 1 : part.size();
    if (shown > kMaxQuoted) return result + "…'";
    result += part;
    at += character.length;
  }
  return result + "'";
}

std::string list_of(std::span<const std::string> items, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) list += cat(i == 0 ? "" : ", ", items[i]);
  if (items.size() > most) list += cat(" and ", items.size() - most, " more");
  return list;
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view ending) {
  return cat(count, " ", one, count == 1 ? "" : ending);
}

}  // namespace fsdpckpt
