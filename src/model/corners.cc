#include "model/corners.h"

#include <algorithm>
#include <bit>

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kAlwaysKept = 1ULL << 22;  ///< corners: 32 MiB
constexpr std::uint64_t kKeptPerBox = 16;          ///< corners: those of boxes cut in four dimensions

/// A dimension in which some box does not span the whole: the places where boxes begin and end, in order.
struct CutDimension {
  std::size_t dim;
  std::vector<std::int64_t> borders;

  [[nodiscard]] std::uint64_t number(std::int64_t border) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(borders, border) - borders.begin());
  }
  [[nodiscard]] int bits() const { return static_cast<int>(std::bit_width(borders.size())); }
};

std::vector<CutDimension> cut_dimensions(std::span<const Chunk> boxes, std::span<const std::int64_t> shape) {
  std::vector<CutDimension> cuts;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const auto is_whole = [&](const Chunk& box) { return box.sizes[dim] == shape[dim]; };
    if (std::ranges::all_of(boxes, is_whole)) continue;
    CutDimension& cut = cuts.emplace_back(CutDimension{dim, {0, shape[dim]}});
    for (const Chunk& box : boxes) {
      cut.borders.push_back(box.offsets[dim]);
      cut.borders.push_back(box.offsets[dim] + box.sizes[dim]);
    }
    std::ranges::sort(cut.borders);
    cut.borders.erase(std::unique(cut.borders.begin(), cut.borders.end()), cut.borders.end());
  }
  return cuts;
}

/// Corners as numbers in row-major order, those that count +1 and those that count -1.
class Corners {
 public:
  explicit Corners(const std::vector<CutDimension>& cuts) : cuts_(cuts) {}

  [[nodiscard]] bool fit(std::size_t boxes) const {
    int bits = 0;
    for (const CutDimension& cut : cuts_) bits += cut.bits();
    const std::uint64_t most = std::max<std::uint64_t>(kAlwaysKept, kKeptPerBox * boxes);
    return bits <= 64 && most >> cuts_.size() >= boxes;
  }

  /// `is_counted`: the box is subtracted when false.
  void add(std::span<const std::int64_t> offsets, std::span<const std::int64_t> sizes, bool is_counted) {
    points_.assign(1, {0, is_counted});
    for (const CutDimension& cut : cuts_) {
      const std::uint64_t begin = cut.number(offsets[cut.dim]), end = cut.number(offsets[cut.dim] + sizes[cut.dim]);
      for (std::size_t i = 0, before = points_.size(); i < before; ++i) {
        const Point point = points_[i];
        points_[i].number = point.number << cut.bits() | begin;
        points_.push_back({point.number << cut.bits() | end, !point.is_plus});
      }
    }
    for (const Point& point : points_) (point.is_plus ? plus_ : minus_).push_back(point.number);
  }

  CornerVerdict verdict() {
    std::ranges::sort(plus_);
    std::ranges::sort(minus_);
    const auto [plus, minus] = std::ranges::mismatch(plus_, minus_);
    if (plus == plus_.end()) return {};
    using Kind = CornerVerdict::Kind;
    return *plus < *minus ? CornerVerdict{Kind::overlap, place(*plus)} : CornerVerdict{Kind::gap, place(*minus)};
  }

 private:
  struct Point {
    std::uint64_t number;
    bool is_plus;
  };

  /// The borders behind a number, one for each cut dimension.
  [[nodiscard]] std::vector<std::int64_t> place(std::uint64_t number) const {
    std::vector<std::int64_t> borders(cuts_.size());
    for (std::size_t i = cuts_.size(); i-- > 0; number >>= cuts_[i].bits())
      borders[i] = cuts_[i].borders[number & ((1ULL << cuts_[i].bits()) - 1)];
    return borders;
  }

  const std::vector<CutDimension>& cuts_;
  std::vector<Point> points_;  ///< of one box
  std::vector<std::uint64_t> plus_, minus_;
};

}  // namespace

std::optional<CornerVerdict> judge_corners(std::span<const Chunk> boxes, std::span<const std::int64_t> shape) {
  const std::vector<CutDimension> cuts = cut_dimensions(boxes, shape);
  if (cuts.empty()) return std::nullopt;
  Corners corners(cuts);
  if (!corners.fit(boxes.size())) return std::nullopt;
  for (const Chunk& box : boxes) corners.add(box.offsets, box.sizes, true);
  corners.add(std::vector<std::int64_t>(shape.size(), 0), shape, false);
  CornerVerdict verdict = corners.verdict();
  if (verdict.kind == CornerVerdict::Kind::tiles) return verdict;
  std::vector<std::int64_t> point(shape.size(), 0);
  for (std::size_t i = 0; i < cuts.size(); ++i) point[cuts[i].dim] = verdict.point[i];
  verdict.point = std::move(point);
  return verdict;
}

}  // namespace fsdpckpt
