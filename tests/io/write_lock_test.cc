#include "io/write_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "io/descriptor.h"

namespace fsdpckpt {
namespace {

TEST(LocksFileForWriting, IsTrueForTmpfs) {
  const Descriptor memory(::memfd_create("file", MFD_CLOEXEC));  // a file of the kernel's own tmpfs
  ASSERT_TRUE(memory.is_open());
  EXPECT_TRUE(locks_file_for_writing(memory.number()));
}

TEST(LocksFileForWriting, IsFalseForWhatIsNotKnown) {
  const Descriptor proc(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(proc.is_open());
  EXPECT_FALSE(locks_file_for_writing(proc.number()));
  EXPECT_FALSE(locks_file_for_writing(-1));
}

}  // namespace
}  // namespace fsdpckpt
