#include "report/consolidate_report.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

ConsolidateReport report_of(double seconds) {
  return {
      .target = "full.pt", .tensors = 6, .objects = 1, .tensor_bytes = 5000, .file_bytes = 6 << 20, .seconds = seconds};
}

TEST(ConsolidateText, IsOneLine) {
  EXPECT_EQ(consolidate_text(report_of(2), false), "full.pt: 6 tensors, 1 object, 6.0 MiB in 2.00 s (3.0 MiB/s)\n");
  EXPECT_EQ(consolidate_text(report_of(12), false), "full.pt: 6 tensors, 1 object, 6.0 MiB in 12.0 s (512.0 KiB/s)\n");
  EXPECT_EQ(consolidate_text(report_of(0), false), "full.pt: 6 tensors, 1 object, 6.0 MiB in 0.00 s (0 B/s)\n");
}

TEST(ConsolidateText, OfADryRunHasNoTime) {
  EXPECT_EQ(consolidate_text(report_of(2), true), "would write full.pt: 6 tensors, 1 object, 6.0 MiB\n");
}

TEST(ConsolidateText, EscapesTheTarget) {
  EXPECT_EQ(consolidate_text({.target = "a\x1b[2J"}, true), "would write a\\x1b[2J: 0 tensors, 0 objects, 0 B\n");
}

TEST(ConsolidateJson, HasEveryCount) {
  ConsolidateReport report = report_of(0.5);
  report.chunks = 9;
  report.chunks_unchecked = 2;
  report.replicas_compared = 3;
  report.notes = {"a note"};
  EXPECT_EQ(consolidate_json(report, false).dump(),
            R"({"schema":"fsdpckpt.consolidate/1","ok":true,"path":"full.pt","dry_run":false,"tensors":6,"objects":1,)"
            R"("tensor_bytes":5000,"file_bytes":6291456,"chunks":9,"chunks_without_checksum":2,"replicas_compared":3,)"
            R"("seconds":0.5,"notes":["a note"]})");
}

}  // namespace
}  // namespace fsdpckpt
