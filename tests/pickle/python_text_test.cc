#include "pickle/python_text.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

TEST(PythonText, TakesUtf8) {
  for (const std::string& text :
       {""s, "a\0b"s, "caf\xc3\xa9"s, "\xe2\x82\xac"s, "\xf0\x9f\x98\x80"s, "\xf4\x8f\xbf\xbf"s}) {
    EXPECT_TRUE(is_python_text(text)) << text;
  }
}

TEST(PythonText, TakesLoneSurrogates) {
  EXPECT_TRUE(is_python_text("\xed\xa0\x80"));
  EXPECT_TRUE(
      is_python_text("a\xed\xbf\xbf"
                     "b"));
}

TEST(PythonText, RefusesWhatPythonRefuses) {
  for (const std::string& text : {"\x80"s, "\xc3"s, "\xc3("s, "\xc0\x80"s, "\xc1\xbf"s, "\xe0\x80\x80"s, "\xe2\x82"s,
                                  "\xed\xa0"s, "\xed\xa0("s, "\xf4\x90\x80\x80"s, "\xf8\x88\x80\x80\x80"s, "\xff"s}) {
    EXPECT_FALSE(is_python_text(text));
  }
}

TEST(PythonText, FindsErrorsAtEveryPlace) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      EXPECT_TRUE(is_python_text(text));
      text[at] = '\xff';
      EXPECT_FALSE(is_python_text(text));
    }
  }
}

}  // namespace
}  // namespace fsdpckpt::pickle
