#include "io/stream_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error_of.h"
#include "io/memory_sink.h"

namespace fsdpckpt {
namespace {

TEST(InOrderSink, AppendsWritesThatFollowEachOther) {
  MemorySequentialSink memory;
  InOrderSink sink(memory);
  sink.write_at(0, as_bytes("front"));
  sink.write_at(5, as_bytes(" to back"));
  EXPECT_EQ(memory.content(), "front to back");
}

TEST(InOrderSink, RefusesAWriteElsewhere) {
  MemorySequentialSink memory;
  InOrderSink sink(memory);
  EXPECT_EQ(error_of([&] { sink.write_at(1, as_bytes("x")); }).kind(), ErrorKind::bug);
}

TEST(DescriptorSink, NamesTheStreamWhenItIsFull) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const Error error = error_of([&] { DescriptorSink(full, "stdout").append(as_bytes("x")); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().path, "stdout");
  close(full);
}

}  // namespace
}  // namespace fsdpckpt
