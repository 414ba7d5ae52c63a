#include "report/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fsdpckpt {
namespace {

nlohmann::ordered_json path_json(std::string_view path) {
  nlohmann::ordered_json object;
  add_path(object, "path", path);
  return object;
}

TEST(AddPath, GivesTheBytesOfAPathThatIsNotUtf8) {
  EXPECT_EQ(path_json("größe").dump(), R"({"path":"größe"})");
  EXPECT_EQ(path_json("\xff").dump(), R"({"path":"\\xff","path_bytes":"/w=="})");
  EXPECT_EQ(path_json("a\xff").dump(), R"({"path":"a\\xff","path_bytes":"Yf8="})");
  EXPECT_EQ(path_json("a\xff\xfe").dump(), R"({"path":"a\\xff\\xfe","path_bytes":"Yf/+"})");
  EXPECT_EQ(path_json("a\xff\xfe"
                      "b")
                .dump(),
            R"({"path":"a\\xff\\xfeb","path_bytes":"Yf/+Yg=="})");
}

TEST(JsonText, KeepsUtf8) { EXPECT_EQ(json_text("naïve\x1b\n\\"), "naïve\x1b\n\\"); }

TEST(JsonText, ShowsInvalidBytes) {
  EXPECT_EQ(json_text("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_NO_THROW(nlohmann::json(json_text("\xed\xa0\x80 \xf8 \xc0\xaf")).dump());
}

}  // namespace
}  // namespace fsdpckpt
