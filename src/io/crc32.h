// CRC-32 as zip uses it (polynomial 0xEDB88320, ISA-L), and its combination without the bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bytes.h"
#include "io/source.h"

namespace fsdpckpt {

/// CRC-32 of `bytes`, continuing from `start` (0 at first).
std::uint32_t crc32(Bytes bytes, std::uint32_t start = 0);

/// CRC-32 of `length` bytes at `offset` of `source`, read in blocks of up to 1 MiB.
std::uint32_t crc32_of(const Source& source, std::uint64_t offset, std::uint64_t length);

/// CRC of a block followed by `length` more bytes, moved there: crc(A || B) == crc32_shift(crc(A), |B|) ^ crc(B).
/// Costs about log2(length) multiplications in GF(2)[x]/p.
std::uint32_t crc32_shift(std::uint32_t crc, std::uint64_t length);

/// CRC of A || B from crc(A), crc(B) and |B|.
inline std::uint32_t crc32_combine(std::uint32_t a, std::uint32_t b, std::uint64_t length_b) {
  return crc32_shift(a, length_b) ^ b;
}

/// The CRC of `size` bytes of which the parts arrive in any order from several threads.
class Crc32Parts {
 public:
  explicit Crc32Parts(std::uint64_t size = 0) : size_(size), left_(size) {}
  /// Adds the part at [offset, offset + length). True when it was the last one: then value() is the whole's.
  bool add(std::uint64_t offset, std::uint64_t length, std::uint32_t crc) {
    const std::uint64_t after = size_ - offset - length;
    crc_.fetch_xor(after == 0 ? crc : crc32_shift(crc, after), std::memory_order_relaxed);
    return left_.fetch_sub(length, std::memory_order_acq_rel) == length;
  }
  [[nodiscard]] std::uint32_t value() const { return crc_.load(std::memory_order_acquire); }

 private:
  std::uint64_t size_;
  std::atomic<std::uint64_t> left_;
  std::atomic<std::uint32_t> crc_{0};
};

}  // namespace fsdpckpt
