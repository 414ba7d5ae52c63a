#include "base/text.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

TEST(Cat, JoinsStringsCharactersAndIntegers) {
  const std::uint8_t small = 7;
  EXPECT_EQ(cat("a", std::string("b"), 'c', -1, UINT64_MAX, small), "abc-1184467440737095516157");
}

TEST(Escape, LeavesPrintableTextAlone) {
  EXPECT_EQ(escape("layers.0.größe 重み 🙂"), "layers.0.größe 重み 🙂");
}

TEST(Escape, ShowsControlCharacters) {
  EXPECT_EQ(escape(std::string_view("\0\n\r\t\x1b[31m\x7f", 10)), "\\x00\\n\\r\\t\\x1b[31m\\x7f");
}

TEST(Escape, ShowsControlCharactersOfTheUpperHalf) { EXPECT_EQ(escape("\xc2\x9b"), "\\u009b"); }

TEST(Escape, ShowsBidiMarksAndInvisibleCharacters) {
  EXPECT_EQ(escape("a\u202eb\u2066c\u200bd\ufeff"), "a\\u202eb\\u2066c\\u200bd\\ufeff");
  EXPECT_EQ(escape("\U000e0041"), "\\U000e0041");
}

TEST(Escape, ShowsBytesThatAreNotUtf8) { EXPECT_EQ(escape("a\xff\xc3"), "a\\xff\\xc3"); }

TEST(Escape, DoublesBackslashesSoThatEscapesCannotBeFaked) { EXPECT_EQ(escape("\\n"), "\\\\n"); }

TEST(Quote, PutsTheEscapedTextBetweenQuotes) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("a\nb"), "'a\\nb'");
}

TEST(Quote, ANameCannotEndItsOwnQuotation) { EXPECT_EQ(quote("x' is fine"), "'x\\' is fine'"); }

TEST(Quote, CutsAfterTwoHundredCharacters) {
  EXPECT_EQ(quote(std::string(200, 'a')), "'" + std::string(200, 'a') + "'");
  EXPECT_EQ(quote(std::string(201, 'a')), "'" + std::string(200, 'a') + "…'");
}

TEST(Quote, CountsCharactersNotBytes) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "é";
  EXPECT_EQ(quote(text), "'" + text + "'");
  EXPECT_EQ(quote(text + "é"), "'" + text + "…'");
}

TEST(Quote, NeverCutsAnEscapeInHalf) {
  EXPECT_EQ(quote(std::string(198, 'a') + "\x1b"), "'" + std::string(198, 'a') + "…'");
}

TEST(ListOf, CountsWhatItDoesNotName) {
  const std::vector<std::string> items = {"a", "b", "c"};
  EXPECT_EQ(list_of(items, 3), "a, b, c");
  EXPECT_EQ(list_of(items, 2), "a, b and 1 more");
  EXPECT_EQ(list_of({}, 2), "");
}

TEST(Plural, FollowsTheCount) {
  EXPECT_EQ(plural(0, "tensor"), "0 tensors");
  EXPECT_EQ(plural(1, "tensor"), "1 tensor");
  EXPECT_EQ(plural(2, "tensor"), "2 tensors");
}

}  // namespace
}  // namespace fsdpckpt
