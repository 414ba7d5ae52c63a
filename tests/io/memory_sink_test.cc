#include "io/memory_sink.h"

#include <gtest/gtest.h>

namespace fsdpckpt {
namespace {

TEST(MemoryPositionalSink, KeepsWritesAtTheirPlacesWithZerosBetween) {
  MemoryPositionalSink sink;
  sink.write_at(4, as_bytes("ef"));
  sink.write_at(0, as_bytes("ab"));
  EXPECT_EQ(sink.content(), std::string("ab\0\0ef", 6));
  EXPECT_EQ(sink.writes(), 2U);
}

TEST(MemorySequentialSink, KeepsWritesInOrder) {
  MemorySequentialSink sink;
  sink.append(as_bytes("ab"));
  sink.append(as_bytes("c"));
  EXPECT_EQ(sink.content(), "abc");
  EXPECT_EQ(sink.writes(), 2U);
}

}  // namespace
}  // namespace fsdpckpt
