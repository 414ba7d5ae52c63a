#include "fuzz/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace fsdpckpt::fuzz {
namespace {

constexpr std::uint64_t kNever = UINT64_MAX;

std::atomic<std::uint64_t> calls{0}, fails_in{kNever};
std::atomic<std::int64_t> held{0}, most{0}, blocks{0};

void* allocate(std::size_t size, std::size_t alignment) {
  ++calls;
  if (fails_in != kNever && fails_in-- == 0) throw std::bad_alloc();
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* block = alignment <= alignof(std::max_align_t) ? std::malloc(rounded) : std::aligned_alloc(alignment, rounded);
  if (block == nullptr) throw std::bad_alloc();
  const std::int64_t now = held += static_cast<std::int64_t>(::malloc_usable_size(block));
  ++blocks;
  for (std::int64_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
  }
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  held -= static_cast<std::int64_t>(::malloc_usable_size(block));
  --blocks;
  std::free(block);
}

}  // namespace

void reset_allocations() {
  calls = 0;
  held = most = blocks = 0;
}

Allocations allocations() { return {calls, held, most, blocks}; }

void fail_allocation_after(std::uint64_t count) { fails_in = count; }

void fail_no_allocation() { fails_in = kNever; }

}  // namespace fsdpckpt::fuzz

// The forms that all others call, [new.delete]; those for arrays and without exceptions too, since the sanitizers bring
// their own, which would not fit these.
void* operator new(std::size_t size) { return fsdpckpt::fuzz::allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return fsdpckpt::fuzz::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return operator new(size, std::nothrow); }
void operator delete(void* block) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete(void* block, std::size_t) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete[](void* block) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete[](void* block, std::size_t) noexcept { fsdpckpt::fuzz::release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { fsdpckpt::fuzz::release(block); }
