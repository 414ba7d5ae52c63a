// Counts the bytes that reading one pickle holds, before they are allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsdpckpt::pickle {

class Budget {
 public:
  /// Sets the limit and forgets the peak.
  void start(std::uint64_t limit) {
    limit_ = limit;
    peak_ = used_;
  }
  /// Throws Error(input) when `bytes` more would pass the limit.
  void take(std::uint64_t bytes) {
    if (bytes > limit_ || used_ > limit_ - bytes) exceeded();
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  void give(std::uint64_t bytes) noexcept { used_ -= bytes; }

  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t peak() const { return peak_; }

  /// Room for `more` elements behind the last one.
  template <class T>
  void make_room(std::vector<T>& vector, std::size_t more = 1) {
    if (vector.capacity() - vector.size() < more) grow(vector, more);
  }

 private:
  static constexpr std::size_t kFirstCapacity = 4;

  template <class T>
  void grow(std::vector<T>& vector, std::size_t more) {
    const std::size_t before = vector.capacity();
    const std::size_t after = std::max({kFirstCapacity, before * 2, vector.size() + more});
    take(after * sizeof(T));  // both exist while the elements move
    vector.reserve(after);
    give(before * sizeof(T));
  }
  [[noreturn]] void exceeded() const;

  std::uint64_t limit_ = UINT64_MAX;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace fsdpckpt::pickle
