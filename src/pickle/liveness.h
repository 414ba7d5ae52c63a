// Which memo slots of a pickle are ever read again: found by a first pass over the opcodes that builds nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "io/byte_reader.h"
#include "pickle/budget.h"

namespace fsdpckpt::pickle {

class Liveness {
 public:
  /// Reads one pickle up to and including its STOP. Throws Error(input) with the byte offset.
  void scan(ByteReader& bytes, Budget& budget);
  void clear();

  /// The place of a live slot among the live ones that are numbered; nothing of others.
  [[nodiscard]] std::optional<std::uint32_t> index(std::uint32_t slot) const {
    if (!is_numbered(slot)) return std::nullopt;
    const std::uint64_t lower = words_[slot / 64] & ((std::uint64_t{1} << (slot % 64)) - 1);
    return ranks_[slot / 64] + static_cast<std::uint32_t>(std::popcount(lower));
  }
  [[nodiscard]] bool is_live(std::uint32_t slot) const { return is_numbered(slot) || is_stray(slot); }
  /// The number of slots that index() numbers.
  [[nodiscard]] std::uint32_t count() const { return count_; }

  /// Bytes held.
  [[nodiscard]] std::uint64_t memory() const;

 private:
  void step(ByteReader& bytes, Budget& budget, std::uint8_t code, std::uint64_t offset);
  void add(std::uint32_t slot, Budget& budget);
  void count_ranks(Budget& budget);
  [[nodiscard]] bool is_numbered(std::uint32_t slot) const {
    return slot / 64 < words_.size() && (words_[slot / 64] >> (slot % 64) & 1U) != 0;
  }
  /// A live slot that index() does not number: one beyond the number of slots written, as no pickler makes it.
  [[nodiscard]] bool is_stray(std::uint32_t slot) const { return !strays_.empty() && strays_.contains(slot); }

  std::uint64_t puts_ = 0;
  std::vector<std::uint64_t> words_;  ///< one bit a slot
  std::vector<std::uint32_t> ranks_;  ///< live slots before each word
  std::unordered_set<std::uint32_t> strays_;
  std::uint32_t count_ = 0;
};

}  // namespace fsdpckpt::pickle
