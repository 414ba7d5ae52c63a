#include "formats/packed_size.h"

#include <gtest/gtest.h>

#include <random>

namespace fsdpckpt {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(PackedSize, GivesBackWhatWasPacked) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Numbers numbers(random() % 16);
    const int bits = bits_per_number(numbers.size());
    for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random() >> (64 - bits) >> random() % 8);
    const auto packed = pack_size(numbers);
    ASSERT_TRUE(packed.has_value());
    EXPECT_EQ(*packed >> kSizeBits, 0U);
    EXPECT_FALSE(spilled_index(*packed).has_value());
    Numbers back = {7, 7};
    unpack_size(*packed, back);
    EXPECT_EQ(back, numbers);
  }
}

TEST(PackedSize, PacksTheLargestNumbersThatFit) {
  for (std::size_t dims = 1; dims < 16; ++dims) {
    const std::int64_t limit = std::int64_t{1} << bits_per_number(dims);
    Numbers back;
    unpack_size(pack_size(Numbers(dims, limit - 1)).value(), back);
    EXPECT_EQ(back, Numbers(dims, limit - 1));
    EXPECT_FALSE(pack_size(Numbers(dims, limit)).has_value());
  }
}

TEST(PackedSize, DoesNotPackMoreThanFifteenNumbers) { EXPECT_FALSE(pack_size(Numbers(16, 0)).has_value()); }

TEST(PackedSize, PacksNoNumbers) {
  Numbers back = {1};
  unpack_size(pack_size({}).value(), back);
  EXPECT_TRUE(back.empty());
}

TEST(PackedSize, TellsSpilledSizesApart) {
  EXPECT_EQ(spilled_index(spilled_size(0)), 0U);
  EXPECT_EQ(spilled_index(spilled_size(123'456'789)), 123'456'789U);
  EXPECT_EQ(spilled_size(5) >> kSizeBits, 0U);
}

}  // namespace
}  // namespace fsdpckpt
