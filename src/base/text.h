// Text for people: concatenation, escaping, sizes, globs, nearest names.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace fsdpckpt {

inline void append_text(std::string& to, std::string_view part) { to.append(part); }
inline void append_text(std::string& to, char part) { to.push_back(part); }
template <class T>
requires(std::integral<T> && !std::same_as<T, char> && !std::same_as<T, bool>) void append_text(std::string& to,
                                                                                                T part) {
  to.append(std::to_string(part));
}

/// The parts one after the other: strings, characters, integers.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string result;
  (append_text(result, parts), ...);
  return result;
}

/// `text` with control characters, ANSI escapes, bidi marks and invalid UTF-8 made visible
/// (\n, \x1b, \u202e, \xff), so that a name from a file cannot drive a terminal.
std::string escape(std::string_view text);

/// escape(text) between single quotes, cut to 200 characters with an ellipsis.
std::string quote(std::string_view text);

/// "a, b, c and 4 more": the first `most` items as they are.
std::string list_of(std::span<const std::string> items, std::size_t most);

/// "1 tensor", "2 tensors".
std::string plural(std::uint64_t count, std::string_view one, std::string_view ending = "s");

/// `text` as one word of a shell, for a command that a user may copy; like escape(), it drives no terminal.
std::string shell_word(std::string_view text);

/// "0 B", "1023 B", "1.2 KiB", "6.6 GiB": binary units, one decimal, no decimals for bytes.
std::string human_size(std::uint64_t bytes);

/// "68", "1.2K", "405.0B": decimal counts of elements, as people say parameters.
std::string human_count(std::uint64_t count);

/// Shell-style pattern over the whole text: `*` (crosses dots), `?`, `[abc]`, `[!a-z]`, `\` escapes.
/// Linear in practice: no exponential backtracking on `*a*a*a*b`.
bool glob_match(std::string_view pattern, std::string_view text);

/// The candidate nearest to `word` by edit distance (Damerau, at most max(2, length/3) and fewer than the word has
/// letters), or empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "1.5 GiB", "512MiB", "64M", "4096": a size in bytes. Throws Error(usage) naming `what` when malformed.
std::uint64_t parse_size(std::string_view text, std::string_view what);

}  // namespace fsdpckpt
