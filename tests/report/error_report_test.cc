#include "report/error_report.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

TEST(ErrorText, SaysWhatWhereAndWhatToDo) {
  const Error error(ErrorKind::input, "it is cut",
                    {.path = "ck/__1_0.distcp", .offset = 4795, .entry = "model.w", .box = "[3:5]"}, "copy it again");
  EXPECT_EQ(error_text(error),
            "fsdpckpt: error: it is cut\n"
            "  in:  ck/__1_0.distcp, byte offset 4795, entry 'model.w' [3:5]\n"
            "  try: copy it again\n");
}

TEST(ErrorText, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(error_text(Error(ErrorKind::usage, "no")), "fsdpckpt: error: no\n");
  EXPECT_EQ(error_text(Error(ErrorKind::input, "no", {.entry = "w"})), "fsdpckpt: error: no\n  in:  entry 'w'\n");
  EXPECT_EQ(error_text(Error(ErrorKind::input, "no", {.offset = 0})), "fsdpckpt: error: no\n  in:  byte offset 0\n");
}

TEST(ErrorText, EscapesNames) {
  EXPECT_EQ(error_text(Error(ErrorKind::input, "no", {.path = "a\x1b[2J", .entry = "b\n"})),
            "fsdpckpt: error: no\n  in:  a\\x1b[2J, entry 'b\\n'\n");
}

TEST(ErrorJson, HasTheSameFacts) {
  const Error error(ErrorKind::refused, "no", {.path = "p", .offset = 7, .entry = "e", .box = "[0:1]"}, "h");
  EXPECT_EQ(error_json(error).dump(),
            R"({"kind":"refused","exit_code":5,"message":"no","path":"p","offset":7,"entry":"e","box":"[0:1]",)"
            R"("hint":"h"})");
}

TEST(ErrorJson, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(error_json(Error(ErrorKind::usage, "no")).dump(), R"({"kind":"usage","exit_code":2,"message":"no"})");
}

TEST(ErrorJson, TakesNamesThatAreNoUtf8) {
  EXPECT_EQ(error_json(Error(ErrorKind::input, "no", {.path = "a\xff"}))["path"], "a\\xff");
}

}  // namespace
}  // namespace fsdpckpt
