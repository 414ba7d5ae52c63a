#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace fsdpckpt {
namespace {

TEST(Glob, WithoutWildcardsMatchesTheWholeText) {
  EXPECT_TRUE(glob_match("layer.0", "layer.0"));
  EXPECT_FALSE(glob_match("layer.0", "layer.01"));
  EXPECT_FALSE(glob_match("layer.01", "layer.0"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(Glob, StarCrossesDotsAndMatchesNothing) {
  EXPECT_TRUE(glob_match("layers.*.weight", "layers.0.attention.weight"));
  EXPECT_TRUE(glob_match("a*b", "ab"));
  EXPECT_TRUE(glob_match("**", ""));
  EXPECT_FALSE(glob_match("*.weight", "layers.0.bias"));
}

TEST(Glob, QuestionMarkIsOneCharacterOfAnyLength) {
  EXPECT_TRUE(glob_match("a?c", "aéc"));
  EXPECT_TRUE(glob_match("a?c",
                         "a\xff"
                         "c"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
}

TEST(Glob, ClassesHoldCharactersAndRanges) {
  EXPECT_TRUE(glob_match("layer.[0-3]", "layer.2"));
  EXPECT_FALSE(glob_match("layer.[0-3]", "layer.4"));
  EXPECT_TRUE(glob_match("[abc]", "b"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("[]]", "]"));
  EXPECT_TRUE(glob_match("[α-ω]", "λ"));
}

TEST(Glob, NegatedClassesMatchTheRest) {
  EXPECT_TRUE(glob_match("[!0-9]", "a"));
  EXPECT_FALSE(glob_match("[!0-9]", "5"));
  EXPECT_FALSE(glob_match("[!0-9]", ""));
}

TEST(Glob, ABracketThatIsNeverClosedIsItself) {
  EXPECT_TRUE(glob_match("a[b", "a[b"));
  EXPECT_FALSE(glob_match("a[b", "ab"));
}

TEST(Glob, BackslashTakesAwayTheMeaning) {
  EXPECT_TRUE(glob_match("\\*", "*"));
  EXPECT_FALSE(glob_match("\\*", "a"));
  EXPECT_TRUE(glob_match("[\\]a]", "]"));
  EXPECT_TRUE(glob_match("a\\", "a\\"));
}

TEST(Glob, ManyStarsDoNotExplode) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "*b", std::string(10'000, 'a')));
}

/// All characters that the class `[inside]` holds, out of the alphabet of the random test.
bool slow_class(std::string_view inside, char c) {
  const bool negated = inside.starts_with('!');
  if (negated) inside.remove_prefix(1);
  bool found = false;
  while (!inside.empty()) {
    const bool range = inside.size() >= 3 && inside[1] == '-';
    found = found || (range ? inside[0] <= c && c <= inside[2] : inside[0] == c);
    inside.remove_prefix(range ? 3 : 1);
  }
  return found != negated;
}

/// The definition, tried every way; classes without escapes and without `]` inside.
bool slow_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return slow_match(pattern.substr(1), text) || (!text.empty() && slow_match(pattern, text.substr(1)));
  }
  if (text.empty()) return false;
  if (pattern[0] == '[') {
    const std::size_t close = pattern.find(']');
    return slow_class(pattern.substr(1, close - 1), text[0]) && slow_match(pattern.substr(close + 1), text.substr(1));
  }
  if (pattern[0] == '\\') return pattern[1] == text[0] && slow_match(pattern.substr(2), text.substr(1));
  return (pattern[0] == '?' || pattern[0] == text[0]) && slow_match(pattern.substr(1), text.substr(1));
}

TEST(Glob, AgreesWithTheSlowDefinitionOnRandomPatterns) {
  static constexpr std::string_view kElements[] = {"*",    "*",     "?",      "a",   "b",   ".",   "[ab]",
                                                   "[!a]", "[a-c]", "[!b-c]", "\\*", "\\[", "\\?", "c"};
  static constexpr std::string_view kLetters = "aabbc.*[?";
  std::mt19937 random(1);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int matched = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string pattern;
    std::string text;
    for (std::size_t i = below(7); i > 0; --i) pattern += kElements[below(std::size(kElements))];
    for (std::size_t i = below(8); i > 0; --i) text += kLetters[below(kLetters.size())];
    const bool expected = slow_match(pattern, text);
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " against " << text;
    matched += expected ? 1 : 0;
  }
  EXPECT_GT(matched, 10'000);
}

}  // namespace
}  // namespace fsdpckpt
