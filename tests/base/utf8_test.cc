#include "base/utf8.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fsdpckpt {
namespace {

void expect_valid(std::string_view text, std::uint32_t code) {
  const Utf8Character character = utf8_at(text, 0);
  EXPECT_TRUE(character.valid) << text;
  EXPECT_EQ(character.code, code);
  EXPECT_EQ(character.length, text.size());
}

void expect_invalid(std::string_view text) {
  const Utf8Character character = utf8_at(text, 0);
  EXPECT_FALSE(character.valid);
  EXPECT_EQ(character.code, static_cast<std::uint8_t>(text[0]));
  EXPECT_EQ(character.length, 1U);
}

TEST(Utf8, DecodesTheFirstAndLastCharacterOfEachLength) {
  expect_valid(std::string_view("\0", 1), 0);
  expect_valid("\x7f", 0x7f);
  expect_valid("\xc2\x80", 0x80);
  expect_valid("\xdf\xbf", 0x7ff);
  expect_valid("\xe0\xa0\x80", 0x800);
  expect_valid("\xef\xbf\xbf", 0xffff);
  expect_valid("\xf0\x90\x80\x80", 0x10000);
  expect_valid("\xf4\x8f\xbf\xbf", 0x10ffff);
}

TEST(Utf8, RejectsContinuationBytesAndBytesThatNeverOccur) {
  for (const std::string_view text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xf5\x80\x80\x80", "\xff"}) {
    expect_invalid(text);
  }
}

TEST(Utf8, RejectsSequencesThatAreCutOff) {
  for (const std::string_view text : {"\xc2", "\xe0\xa0", "\xf0\x90\x80", "\xc2z", "\xe0\xa0z"}) expect_invalid(text);
}

TEST(Utf8, RejectsOverlongFormsSurrogatesAndNumbersThatAreTooLarge) {
  for (const std::string_view text :
       {"\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80"}) {
    expect_invalid(text);
  }
}

}  // namespace
}  // namespace fsdpckpt
