#include "base/checked.h"

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

TEST(Checked, SumsAndProductsThatFitAreReturned) {
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX - 1, 1, "end"), UINT64_MAX);
  EXPECT_EQ(checked_mul<std::int64_t>(-3, 5, "stride"), -15);
}

TEST(Checked, AddingPastTheLargestNumberIsAnInputErrorThatNamesTheQuantity) {
  const Error error = error_of([] { checked_add<std::uint64_t>(UINT64_MAX, 1, "end of a chunk"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "end of a chunk is too large for 64 bits");
}

TEST(Checked, MultiplyingPastTheLargestNumberIsAnInputError) {
  EXPECT_EQ(error_of([] { checked_mul<std::int64_t>(INT64_MAX, 2, "size"); }).kind(), ErrorKind::input);
}

TEST(Checked, NegativeSizesAreAnInputErrorThatShowsTheValue) {
  EXPECT_EQ(checked_size(0, "dimension"), 0U);
  EXPECT_STREQ(error_of([] { checked_size(-7, "dimension"); }).what(), "dimension is negative: -7");
}

}  // namespace
}  // namespace fsdpckpt
