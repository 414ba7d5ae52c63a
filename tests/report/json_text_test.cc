#include "report/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fsdpckpt {
namespace {

TEST(JsonText, KeepsUtf8) { EXPECT_EQ(json_text("naïve\x1b\n\\"), "naïve\x1b\n\\"); }

TEST(JsonText, ShowsInvalidBytes) {
  EXPECT_EQ(json_text("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_NO_THROW(nlohmann::json(json_text("\xed\xa0\x80 \xf8 \xc0\xaf")).dump());
}

}  // namespace
}  // namespace fsdpckpt
