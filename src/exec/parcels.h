// What a rank sends to, or receives from, each other rank in one round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/buffer.h"
#include "dist/communicator.h"

namespace fsdpckpt {

/// Parcels to, or from, every rank, one behind the other in one buffer.
class Parcels {
 public:
  explicit Parcels(std::size_t ranks = 0) : bytes_(ranks), used_(ranks) {}
  void clear() {
    std::ranges::fill(bytes_, 0);
    std::ranges::fill(used_, 0);
  }
  /// So many bytes more go to, or come from, `rank`.
  void plan(int rank, std::uint64_t bytes) { bytes_[static_cast<std::size_t>(rank)] += bytes; }
  /// The next bytes of that rank's parcel.
  MutableBytes next(int rank, std::uint64_t bytes) {
    const auto i = static_cast<std::size_t>(rank);
    const std::uint64_t at = used_[i];
    used_[i] += bytes;
    return parcel(i).subspan(at, bytes);
  }
  [[nodiscard]] std::vector<Parcel> all() {
    std::vector<Parcel> parcels;
    parcels.reserve(bytes_.size());
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if (bytes_[i] > 0) parcels.push_back({static_cast<int>(i), parcel(i)});
    }
    return parcels;
  }
  [[nodiscard]] std::uint64_t total() const { return std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0}); }

 private:
  MutableBytes parcel(std::size_t rank) {
    const auto before = bytes_.begin() + static_cast<std::ptrdiff_t>(rank);
    return buffer_.take(total()).subspan(std::accumulate(bytes_.begin(), before, std::uint64_t{0}), bytes_[rank]);
  }
  std::vector<std::uint64_t> bytes_, used_;
  Buffer buffer_;
};

}  // namespace fsdpckpt
