#include "report/progress.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(ProgressText, ShowsShareBytesRateAndTimeLeft) {
  EXPECT_EQ(progress_text(25 * kMiB, 100 * kMiB, 5), " 25 %  25.0 MiB of 100.0 MiB, 5.0 MiB/s, 15 s left");
  EXPECT_EQ(progress_text(100 * kMiB, 100 * kMiB, 5), "100 %  100.0 MiB of 100.0 MiB, 20.0 MiB/s");
  EXPECT_EQ(progress_text(5 * kMiB, 100 * kMiB, 5), "  5 %  5.0 MiB of 100.0 MiB, 1.0 MiB/s, 95 s left");
}

TEST(ProgressText, ShowsLongTimesInMinutes) {
  EXPECT_EQ(progress_text(10 * kMiB, 100 * kMiB, 100), " 10 %  10.0 MiB of 100.0 MiB, 102.4 KiB/s, 15 min left");
}

TEST(ProgressText, DoesNotGuessFromTooLittle) {
  EXPECT_EQ(progress_text(659, 256 * kMiB, 0.1), "  0 %  659 B of 256.0 MiB, 6.4 KiB/s");
  EXPECT_EQ(progress_text(0, 256 * kMiB, 0), "  0 %  0 B of 256.0 MiB, 0 B/s");
  EXPECT_EQ(progress_text(0, 0, 0), "100 %  0 B of 0 B, 0 B/s");
}

TEST(Progress, DrawsNothingUnlessEnabled) {
  testing::internal::CaptureStderr();
  { Progress(false).update(1, 2); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, DrawsNothingInTheFirstTenthOfASecond) {
  testing::internal::CaptureStderr();
  { Progress(true).update(1, 2); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace fsdpckpt
