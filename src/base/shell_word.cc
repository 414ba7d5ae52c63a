#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace fsdpckpt {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./+,:=@%").find(c) != std::string_view::npos;
}

/// True when escape() would show `text` otherwise than it is, backslashes apart.
bool hides_something(std::string_view text) {
  return escape(text).size() != text.size() + static_cast<std::size_t>(std::ranges::count(text, '\\'));
}

/// $'...': every byte that is not printable ASCII as \xNN, as bash, zsh and ksh read it.
std::string dollar_quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "$'";
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '\'' || c == '\\')
      result += cat('\\', c);
    else if (byte >= 0x20 && byte < 0x7f)
      result += c;
    else
      result += cat("\\x", kDigits[byte >> 4], kDigits[byte & 15]);
  }
  return result + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  if (hides_something(text)) return dollar_quoted(text);
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace fsdpckpt
