#include "report/table.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

using Align = Table::Align;

TEST(Table, AlignsColumns) {
  Table table({"name", "size", "note"}, {Align::left, Align::right, Align::left});
  table.add({"a", "1", "x"});
  table.add({"long", "1234567", "y"});
  EXPECT_EQ(table.text(),
            "  name     size  note\n"
            "  a           1  x\n"
            "  long  1234567  y\n");
}

TEST(Table, HasNoBlanksAtTheEndOfALine) {
  Table table({"a", "b"}, {Align::left, Align::left});
  table.add({"x", ""});
  table.add({"wider", "y"});
  EXPECT_EQ(table.text(), "  a      b\n  x\n  wider  y\n");
}

TEST(Table, KeepsTheColumnsBehindAnEmptyCell) {
  Table table({"a", "b", "c"}, {Align::left, Align::right, Align::left});
  table.add({"x", "", "z"});
  EXPECT_EQ(table.text(), "  a  b  c\n  x     z\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({"a", "b"}, {Align::left, Align::left});
  table.add({"ü", "x"});
  table.add({"uu", "y"});
  EXPECT_EQ(table.text(), "  a   b\n  ü   x\n  uu  y\n");
}

}  // namespace
}  // namespace fsdpckpt
