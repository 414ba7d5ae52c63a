#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

TEST(Error, ContextIsAddedWhereNoneIsSet) {
  Error error(ErrorKind::input, "broken");
  error.in_path("a.pt").in_entry("layer.weight").in_box("[0:1]").with_hint("run verify");
  EXPECT_EQ(error.where().path, "a.pt");
  EXPECT_EQ(error.where().entry, "layer.weight");
  EXPECT_EQ(error.where().box, "[0:1]");
  EXPECT_EQ(error.hint(), "run verify");
}

TEST(Error, TheInnermostContextStays) {
  Error error(ErrorKind::input, "broken", {.path = "inner"}, "first");
  error.in_path("outer").with_hint("second");
  EXPECT_EQ(error.where().path, "inner");
  EXPECT_EQ(error.hint(), "first");
}

}  // namespace
}  // namespace fsdpckpt
