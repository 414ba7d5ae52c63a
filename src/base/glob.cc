#include "base/text.h"
#include "base/utf8.h"

namespace fsdpckpt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

struct Step {
  bool matches;
  std::size_t length;  ///< bytes of the pattern that stand for one character
};

/// Bytes that are no UTF-8 get numbers of their own, so that they equal only themselves.
std::uint32_t code_of(Utf8Character character) { return character.valid ? character.code : 0x110000U + character.code; }

/// Reads one possibly escaped character of `pattern`; a backslash at the end stands for itself.
std::uint32_t take_literal(std::string_view pattern, std::size_t& at) {
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  const Utf8Character character = utf8_at(pattern, at);
  at += character.length;
  return code_of(character);
}

/// `[...]` at the start of `pattern`; length 0 when the bracket is never closed.
Step match_class(std::string_view pattern, std::uint32_t code) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '!';
  if (negated) ++at;
  bool found = false;
  for (const std::size_t first = at; at < pattern.size();) {
    if (pattern[at] == ']' && at != first) return {found != negated, at + 1};
    const std::uint32_t low = take_literal(pattern, at);
    std::uint32_t high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') high = take_literal(pattern, ++at);
    found = found || (low <= code && code <= high);
  }
  return {false, 0};
}

/// The pattern's first element, which is no `*`, against one character.
Step match_one(std::string_view pattern, std::uint32_t code) {
  if (pattern[0] == '?') return {true, 1};
  if (pattern[0] == '[') {
    const Step step = match_class(pattern, code);
    if (step.length > 0) return step;
  }
  std::size_t length = 0;
  const std::uint32_t literal = take_literal(pattern, length);
  return {literal == code, length};
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_star = kNone;  // only the last star needs to be tried again: that keeps the cost quadratic
  std::size_t star_text = 0;
  while (t < text.size()) {
    const Utf8Character character = utf8_at(text, t);
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_text = t;
      continue;
    }
    const Step step = p < pattern.size() ? match_one(pattern.substr(p), code_of(character)) : Step{false, 0};
    if (step.matches) {
      p += step.length;
      t += character.length;
    } else if (after_star != kNone) {
      p = after_star;
      t = star_text += utf8_at(text, star_text).length;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

}  // namespace fsdpckpt
