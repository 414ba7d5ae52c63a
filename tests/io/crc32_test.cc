#include "io/crc32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

/// The definition, one bit at a time; without the inversions that crc32 does before and after.
std::uint32_t pass_zero_bytes(std::uint32_t crc, std::uint64_t count) {
  for (std::uint64_t bit = 0; bit < 8 * count; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  return crc;
}

TEST(Crc32, KnownVectors) {
  EXPECT_EQ(crc32(as_bytes("")), 0U);
  EXPECT_EQ(crc32(as_bytes("a")), 0xe8b7be43U);
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926U);
  EXPECT_EQ(crc32(as_bytes("The quick brown fox jumps over the lazy dog")), 0x414fa339U);
}

TEST(Crc32, ContinuesFromAnEarlierPart) { EXPECT_EQ(crc32(as_bytes("56789"), crc32(as_bytes("1234"))), 0xcbf43926U); }

TEST(Crc32Shift, AgreesWithTheDefinitionForEveryShortLength) {
  for (std::uint64_t length = 0; length < 2000; ++length) {
    ASSERT_EQ(crc32_shift(0x12345678, length), pass_zero_bytes(0x12345678, length)) << length;
  }
}

TEST(Crc32Shift, ShiftsAddUpForLongLengths) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t a = random() >> (1 + random() % 63);
    const std::uint64_t b = random() >> (1 + random() % 63);
    const auto crc = static_cast<std::uint32_t>(random());
    ASSERT_EQ(crc32_shift(crc32_shift(crc, a), b), crc32_shift(crc, a + b)) << a << " " << b;
  }
}

TEST(Crc32Shift, AgreesWithTheDefinitionAcrossFourGibibits) {
  // 2^29 bytes are 2^32 bits, where the exponent wraps for the first time.
  const std::uint64_t length = (std::uint64_t{1} << 29) + 5;
  const std::vector<std::byte> zeros(1 << 20);
  std::uint32_t crc = ~0x12345678U;
  for (int i = 0; i < 512; ++i) crc = crc32(zeros, crc);
  crc = crc32(Bytes(zeros).first(5), crc);
  EXPECT_EQ(crc32_shift(0x12345678, length), ~crc);
}

TEST(Crc32Shift, TheLongestLengthIsAllowed) {
  EXPECT_EQ(crc32_shift(crc32_shift(7, UINT64_MAX - 9), 9), crc32_shift(7, UINT64_MAX));
}

TEST(Crc32Combine, GivesTheWholeForEverySplit) {
  const std::string text = sample_bytes(300);
  const std::uint32_t whole = crc32(as_bytes(text));
  for (std::size_t split = 0; split <= text.size(); ++split) {
    const std::string_view a = std::string_view(text).substr(0, split);
    const std::string_view b = std::string_view(text).substr(split);
    ASSERT_EQ(crc32_combine(crc32(as_bytes(a)), crc32(as_bytes(b)), b.size()), whole) << split;
  }
}

struct Part {
  std::size_t offset;
  std::size_t length;
};

std::vector<Part> shuffled_parts(std::size_t size) {
  std::mt19937 random(1);
  std::vector<Part> parts;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = std::min<std::size_t>(1 + random() % 500, size - at);
    parts.push_back({at, length});
    at += length;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  return parts;
}

TEST(Crc32Parts, TheOrderOfThePartsDoesNotMatter) {
  const std::string text = sample_bytes(20'000);
  Crc32Parts whole(text.size());
  int last = 0;
  for (const Part part : shuffled_parts(text.size())) {
    ASSERT_EQ(last, 0);
    last += whole.add(part.offset, part.length, crc32(as_bytes(text).subspan(part.offset, part.length))) ? 1 : 0;
  }
  EXPECT_EQ(last, 1);
  EXPECT_EQ(whole.value(), crc32(as_bytes(text)));
}

TEST(Crc32Parts, PartsMayComeFromSeveralThreads) {
  const std::string text = sample_bytes(200'000);
  const std::vector<Part> parts = shuffled_parts(text.size());
  Crc32Parts whole(text.size());
  std::atomic<std::size_t> next{0};
  std::atomic<int> last{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      const Bytes bytes = as_bytes(text).subspan(parts[i].offset, parts[i].length);
      if (whole.add(parts[i].offset, parts[i].length, crc32(bytes))) ++last;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  EXPECT_EQ(last, 1);
  EXPECT_EQ(whole.value(), crc32(as_bytes(text)));
}

TEST(Crc32Of, IsThatOfTheRangeOverSeveralBlocks) {
  const std::string bytes = sample_bytes((2 << 20) + 77);
  const MemorySource source(as_bytes(bytes));
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{1} << 20, bytes.size() - 3})
    EXPECT_EQ(crc32_of(source, 3, length), crc32(as_bytes(bytes).subspan(3, length))) << length;
}

}  // namespace
}  // namespace fsdpckpt
