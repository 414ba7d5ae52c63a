#include "base/exit_code.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

struct Case {
  ErrorKind kind;
  int code;
  std::string_view name;
};

constexpr Case kCases[] = {
    {ErrorKind::usage, 2, "usage"},
    {ErrorKind::input, 3, "input"},
    {ErrorKind::io, 4, "io"},
    {ErrorKind::refused, 5, "refused"},
    {ErrorKind::ranks, 6, "ranks"},
    {ErrorKind::interrupted, 130, "interrupted"},
    {ErrorKind::terminated, 143, "terminated"},
    {ErrorKind::bug, 70, "bug"},
};

TEST(ExitCode, EveryKindHasItsDocumentedCode) {
  for (const Case& each : kCases) EXPECT_EQ(exit_code(each.kind), each.code) << each.name;
}

TEST(ExitCode, EveryKindIsNamedByItsWord) {
  for (const Case& each : kCases) EXPECT_EQ(kind_name(each.kind), each.name);
}

}  // namespace
}  // namespace fsdpckpt
