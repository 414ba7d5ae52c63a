#include <initializer_list>

#include "base/error_of.h"
#include "base/text.h"

namespace fsdpckpt {
namespace {

TEST(HumanSize, BytesHaveNoDecimals) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
}

TEST(HumanSize, LargerSizesHaveOneDecimalAndABinaryUnit) {
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(1229), "1.2 KiB");
  EXPECT_EQ(human_size(7086696038), "6.6 GiB");
  EXPECT_EQ(human_size(UINT64_MAX), "16.0 EiB");
}

TEST(HumanSize, WhatWouldRoundTo1024TakesTheNextUnit) {
  EXPECT_EQ(human_size(1048524), "1023.9 KiB");
  EXPECT_EQ(human_size(1048525), "1.0 MiB");
}

TEST(HumanCount, SmallCountsAreExact) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
}

TEST(HumanCount, LargerCountsHaveOneDecimalAndADecimalUnit) {
  EXPECT_EQ(human_count(1000), "1.0K");
  EXPECT_EQ(human_count(1240), "1.2K");
  EXPECT_EQ(human_count(405'000'000'000), "405.0B");
  EXPECT_EQ(human_count(2'000'000'000'000'000), "2000.0T");
}

TEST(HumanCount, WhatWouldRoundTo1000TakesTheNextUnit) { EXPECT_EQ(human_count(999'950), "1.0M"); }

TEST(ParseSize, AcceptsPlainBytes) {
  EXPECT_EQ(parse_size("0", "--memory-limit"), 0U);
  EXPECT_EQ(parse_size("4096", "--memory-limit"), 4096U);
  EXPECT_EQ(parse_size("4096 B", "--memory-limit"), 4096U);
  EXPECT_EQ(parse_size("18446744073709551615", "--memory-limit"), UINT64_MAX);
}

TEST(ParseSize, AcceptsUnitsInBothSpellingsAndAnyCase) {
  EXPECT_EQ(parse_size("1k", "--memory-limit"), 1024U);
  EXPECT_EQ(parse_size("64M", "--memory-limit"), 64U << 20);
  EXPECT_EQ(parse_size("512MiB", "--memory-limit"), 512U << 20);
  EXPECT_EQ(parse_size("2 gib", "--memory-limit"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_size("3T", "--memory-limit"), std::uint64_t{3} << 40);
}

TEST(ParseSize, AcceptsFractionsOfAUnit) {
  EXPECT_EQ(parse_size("1.5 GiB", "--memory-limit"), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_size("0.25K", "--memory-limit"), 256U);
}

TEST(ParseSize, MalformedTextIsAUsageErrorThatNamesTheOption) {
  for (const char* text :
       {"", " ", "M", "-1", "+1", "1.5", "1.", "1.2.3M", ".5M", "1MB", "1 M x", "0x10", "nan", "1e3", "1M "}) {
    const Error error = error_of([&] { parse_size(text, "--memory-limit"); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_EQ(error.what(), cat("--memory-limit is no size: ", quote(text)));
  }
}

TEST(ParseSize, SizesBeyond64BitsAreAUsageError) {
  for (const char* text : {"18446744073709551616", "16E", "17592186044416M", "15.9999999999999999999E"}) {
    EXPECT_EQ(error_of([&] { parse_size(text, "--memory-limit"); }).kind(), ErrorKind::usage) << text;
  }
}

}  // namespace
}  // namespace fsdpckpt
