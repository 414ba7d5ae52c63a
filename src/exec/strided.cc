#include "exec/strided.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace fsdpckpt {
namespace {

/// Walks the elements of a piece in row-major order and knows where each lies in the storage.
class Walk {
 public:
  Walk(const Payload& payload, const ExpectedChunk& chunk, const Piece& piece)
      : payload_(payload), chunk_(chunk), left_(piece.count) {
    std::uint64_t element = piece.first;
    for (std::size_t dim = chunk.sizes.size(); dim-- > 0;) {
      const auto size = static_cast<std::uint64_t>(chunk.sizes[dim]);
      at_[dim] = static_cast<std::int64_t>(element % size);
      element /= size;
      place_ += at_[dim] * payload.strides[dim];
    }
  }

  [[nodiscard]] bool done() const { return left_ == 0; }
  /// The place of the current element, in elements behind payload.offset.
  [[nodiscard]] std::uint64_t place() const { return static_cast<std::uint64_t>(place_); }
  /// Elements not yet passed, the current one included.
  [[nodiscard]] std::uint64_t left() const { return left_; }
  void step() {
    --left_;
    for (std::size_t dim = chunk_.sizes.size(); dim-- > 0;) {
      place_ += payload_.strides[dim];
      if (++at_[dim] < chunk_.sizes[dim]) return;
      place_ -= at_[dim] * payload_.strides[dim];
      at_[dim] = 0;
    }
  }

 private:
  const Payload& payload_;
  const ExpectedChunk& chunk_;
  std::array<std::int64_t, 64> at_{};
  std::int64_t place_ = 0;
  std::uint64_t left_;
};

struct Stretch {
  std::uint64_t begin = UINT64_MAX, end = 0;  ///< elements
};

Stretch stretch_of(const Payload& payload, const ExpectedChunk& chunk, const Piece& piece) {
  Stretch stretch;
  for (Walk walk(payload, chunk, piece); !walk.done(); walk.step()) {
    stretch.begin = std::min(stretch.begin, walk.place());
    stretch.end = std::max(stretch.end, walk.place() + 1);
  }
  return stretch;
}

/// For a transposed chunk (neighbours along dim 0 are neighbours in the storage): one read for each column of the
/// piece's rows.
void gather_columns(const Source& source, const Payload& payload, const ExpectedChunk& chunk, const Piece& piece,
                    MutableBytes out) {
  const std::uint32_t size = item_size(chunk.dtype);
  std::uint64_t columns = 1;
  for (std::size_t dim = 1; dim < chunk.sizes.size(); ++dim) columns *= static_cast<std::uint64_t>(chunk.sizes[dim]);
  const std::uint64_t first_row = piece.first / columns;
  std::vector<std::byte> column(((piece.first + piece.count - 1) / columns - first_row + 1) * size);
  for (Walk walk(payload, chunk, {first_row * columns, columns}); !walk.done(); walk.step()) {
    source.read_at(payload.offset + walk.place() * size, column);
    for (std::uint64_t row = 0; row < column.size() / size; ++row) {
      const std::uint64_t element = (first_row + row + 1) * columns - walk.left();
      if (element < piece.first || element >= piece.first + piece.count) continue;
      std::memcpy(out.data() + (element - piece.first) * size, column.data() + row * size, size);
    }
  }
}

}  // namespace

void gather_piece(const Source& source, const Payload& payload, const ExpectedChunk& chunk, const Piece& piece,
                  MutableBytes out, std::uint64_t most_bytes) {
  const std::uint32_t size = item_size(chunk.dtype);
  const Stretch stretch = stretch_of(payload, chunk, piece);
  std::byte* to = out.data();
  if ((stretch.end - stretch.begin) * size <= most_bytes) {
    std::vector<std::byte> bytes((stretch.end - stretch.begin) * size);
    source.read_at(payload.offset + stretch.begin * size, bytes);
    for (Walk walk(payload, chunk, piece); !walk.done(); walk.step(), to += size) {
      std::memcpy(to, bytes.data() + (walk.place() - stretch.begin) * size, size);
    }
    return;
  }
  if (chunk.sizes.size() > 1 && payload.strides[0] == 1) return gather_columns(source, payload, chunk, piece, out);
  for (Walk walk(payload, chunk, piece); !walk.done(); walk.step(), to += size) {
    source.read_at(payload.offset + walk.place() * size, {to, size});
  }
}

std::vector<std::byte> gather(const Source& source, const Payload& payload, const ExpectedChunk& chunk) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : chunk.sizes) elements *= static_cast<std::uint64_t>(extent);
  std::vector<std::byte> dense(elements * item_size(chunk.dtype));
  if (elements > 0) gather_piece(source, payload, chunk, {0, elements}, dense, dense.size());
  return dense;
}

}  // namespace fsdpckpt
