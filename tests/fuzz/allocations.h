// Counts what a test program allocates, and makes allocations fail: its operator new is the one of allocations.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fsdpckpt::fuzz {

/// Since the last reset_allocations(), of all threads.
struct Allocations {
  std::uint64_t count = 0;  ///< calls of operator new
  std::int64_t bytes = 0;   ///< held now, less those held at the reset
  std::int64_t peak = 0;    ///< the most that `bytes` was
  std::int64_t blocks = 0;  ///< held now, of those since the reset
};

void reset_allocations();
Allocations allocations();

/// The call of operator new after `count` more fails with bad_alloc, once.
void fail_allocation_after(std::uint64_t count);
/// No call fails any more.
void fail_no_allocation();

}  // namespace fsdpckpt::fuzz
