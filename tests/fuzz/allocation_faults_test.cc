// Memory that cannot be had, at every place where it is asked for while an index is read: bad_alloc comes out, nothing
// is kept, and the next reading works.
#include <gtest/gtest.h>

#include <new>

#include "fuzz/allocations.h"
#include "fuzz/answers.h"

namespace fsdpckpt::fuzz {
namespace {

const std::string kTestData = FSDPCKPT_TESTDATA;

/// Reads with the allocation behind `count` others failing; true when it was reached.
template <class Read>
bool fails_after(std::uint64_t count, const Read& read) {
  bool failed = false;
  reset_allocations();
  fail_allocation_after(count);
  try {
    read();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  fail_no_allocation();
  EXPECT_EQ(allocations().blocks, 0) << "kept after allocation " << count << " failed";
  return failed;
}

template <class Read>
void fail_every_allocation(const Read& read) {
  read();  // what is made once and kept
  std::uint64_t count = 0;
  while (fails_after(count, read)) ++count;
  EXPECT_GT(count, 10U);
  reset_allocations();
  read();
  EXPECT_EQ(allocations().count, count) << "an allocation that failed was swallowed";
  std::printf("%llu allocations failed, one after the other\n", static_cast<unsigned long long>(count));
}

TEST(AllocationFaults, WhileMetadataIsRead) {
  const std::string directory = kTestData + "/torch-2.4.1/dt_s0_w2", metadata = content_of(directory + "/.metadata");
  fail_every_allocation([&] { metadata_answer(directory, metadata); });
}

TEST(AllocationFaults, WhileATorchFileIsRead) {
  const std::string file = content_of(kTestData + "/torch-2.13.0/full/containers.pt");
  fail_every_allocation([&] { torch_file_answer(file); });
}

TEST(AllocationFaults, WhileAnItemIsRead) {
  const std::string item = content_of(FSDPCKPT_ZIP_DATA "/torch-2.13.0-tensor-item.pt");
  fail_every_allocation([&] { item_answer(item); });
}

}  // namespace
}  // namespace fsdpckpt::fuzz
