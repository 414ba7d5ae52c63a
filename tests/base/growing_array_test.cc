#include "base/growing_array.h"

#include <gtest/gtest.h>

#include <array>

namespace fsdpckpt {
namespace {

TEST(GrowingArray, KeepsWhatWasPushedWhileItGrows) {
  GrowingArray<std::uint32_t> array;
  for (std::uint32_t i = 0; i < 1000; ++i) array.push_back(i * 3);
  ASSERT_EQ(array.size(), 1000U);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(array[i], i * 3);
  EXPECT_EQ(array.bytes(), 4000U);
}

TEST(GrowingArray, AppendReturnsTheIndexOfTheFirst) {
  GrowingArray<int> array;
  array.push_back(1);
  constexpr std::array<int, 100> kMore{7, 8, 9};
  EXPECT_EQ(array.append(kMore), 1U);
  EXPECT_EQ(array.size(), 101U);
  EXPECT_EQ(array.slice(1, 3)[2], 9);
}

TEST(GrowingArray, ShrinkForgetsTheEnd) {
  GrowingArray<int> array;
  array.push_back(1);
  array.push_back(2);
  array.shrink(1);
  array.push_back(5);
  EXPECT_EQ(array[1], 5);
  array.shrink(0);
  EXPECT_TRUE(array.empty());
}

TEST(GrowingArray, MovesWithoutCopying) {
  GrowingArray<int> from;
  from.push_back(4);
  const int* data = &from[0];
  const GrowingArray<int> to = std::move(from);
  EXPECT_EQ(&to[0], data);
  EXPECT_EQ(to.size(), 1U);
}

}  // namespace
}  // namespace fsdpckpt
