#include "plan/fsdp_shards.h"

#include <gtest/gtest.h>

#include <vector>

namespace fsdpckpt {
namespace {

/// Rows of each rank as torch.chunk(world_size) gives them: pieces of ceil(rows / world_size) until nothing is left.
std::vector<std::uint64_t> chunked_rows(std::uint64_t rows, std::uint64_t world_size) {
  const std::uint64_t each = (rows + world_size - 1) / world_size;
  std::vector<std::uint64_t> result;
  for (std::uint64_t rank = 0; rank < world_size; ++rank) {
    const std::uint64_t count = std::min(each, rows);
    result.push_back(count);
    rows -= count;
  }
  return result;
}

TEST(FsdpShards, AreThoseOfTorchChunkPaddedToTheFirst) {
  constexpr std::uint64_t kRow = 12;
  for (std::uint64_t rows = 0; rows < 40; ++rows) {
    for (std::uint64_t world_size = 1; world_size < 45; ++world_size) {
      const FsdpShards shards(rows * kRow, rows, world_size);
      const auto expected = chunked_rows(rows, world_size);
      std::uint64_t at = 0;
      for (std::uint64_t rank = 0; rank < world_size; ++rank) {
        EXPECT_EQ(shards.begin(rank), at);
        EXPECT_EQ(shards.end(rank) - shards.begin(rank), expected[rank] * kRow) << rows << " over " << world_size;
        at = shards.end(rank);
      }
      EXPECT_EQ(at, rows * kRow);
      EXPECT_EQ(shards.padded, expected.front() * kRow);
    }
  }
}

TEST(FsdpShards, AParameterWithoutDimensionsIsOneRow) {
  const FsdpShards shards(4, 1, 3);
  EXPECT_EQ(shards.end(0), 4U);
  EXPECT_EQ(shards.begin(2), shards.end(2));
}

TEST(FsdpShards, ATensorWithoutElementsHasNoBytes) {
  const FsdpShards shards(0, 5, 2);  // of shape [5, 0]
  EXPECT_EQ(shards.padded, 0U);
}

}  // namespace
}  // namespace fsdpckpt
