// A torch.Size in 60 bits: most shapes and offsets fit, so that millions of them need no memory of their own.
// Layout, from the top: 1 bit "spilled", 4 bits number of dimensions, 55 bits divided evenly among them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fsdpckpt {

inline constexpr int kSizeBits = 60;
inline constexpr int kNumberBits = 55;
inline constexpr std::uint64_t kSpilled = 1ULL << 59;

inline int bits_per_number(std::size_t dims) { return dims == 0 ? 0 : kNumberBits / static_cast<int>(dims); }

/// The packed numbers, or nothing when they are too many (over 15) or too large.
inline std::optional<std::uint64_t> pack_size(std::span<const std::int64_t> numbers) {
  if (numbers.size() > 15) return std::nullopt;
  const int bits = bits_per_number(numbers.size());
  std::uint64_t packed = static_cast<std::uint64_t>(numbers.size()) << kNumberBits;
  int shift = 0;
  for (const std::int64_t number : numbers) {
    if (static_cast<std::uint64_t>(number) >> bits != 0) return std::nullopt;
    packed |= static_cast<std::uint64_t>(number) << shift;
    shift += bits;
  }
  return packed;
}

inline void unpack_size(std::uint64_t packed, std::vector<std::int64_t>& numbers) {
  numbers.resize(packed >> kNumberBits & 15);
  const int bits = bits_per_number(numbers.size());
  int shift = 0;
  for (std::int64_t& number : numbers) {
    number = static_cast<std::int64_t>(packed >> shift & ((1ULL << bits) - 1));
    shift += bits;
  }
}

/// Stands for a size that is kept elsewhere under `index`.
inline std::uint64_t spilled_size(std::uint64_t index) { return kSpilled | index; }

inline std::optional<std::uint64_t> spilled_index(std::uint64_t packed) {
  if ((packed & kSpilled) == 0) return std::nullopt;
  return packed & (kSpilled - 1);
}

}  // namespace fsdpckpt
