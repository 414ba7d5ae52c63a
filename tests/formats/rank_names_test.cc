#include "formats/rank_names.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fsdpckpt {
namespace {

TEST(RankIn, IsTheNumberBehindTheLastRank) {
  EXPECT_EQ(rank_in("model_world_size_2_rank_1.pt"), 1U);
  EXPECT_EQ(rank_in("optimizer_rank0.bin"), 0U);
  EXPECT_EQ(rank_in("rank-13.pt"), 13U);
  EXPECT_EQ(rank_in("rank_x_rank_2_of_4.pt"), 2U);
  for (const char* name : {"", "model.pt", "rank.pt", "rank_.pt", "rank__1.pt", "rank_99999999999999999999.pt"})
    EXPECT_EQ(rank_in(name), std::nullopt) << name;
}

TEST(IsRankFile, IsTheNameThatTorchGives) {
  EXPECT_TRUE(is_rank_file("__0_0.distcp"));
  EXPECT_TRUE(is_rank_file("__511_12.distcp"));
  for (const char* name : {"", "__.distcp", "__0.distcp", "__0_.distcp", "___0.distcp", "_0_0.distcp", "__a_0.distcp",
                           "__0_0.distcp.tmp", "__0_0x.distcp", "x__0_0.distcp"})
    EXPECT_FALSE(is_rank_file(name)) << name;
}

}  // namespace
}  // namespace fsdpckpt
