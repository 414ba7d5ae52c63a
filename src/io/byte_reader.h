// A forward reader of bytes for parsers: contiguous views of small runs, copies of long ones, and no
// allocation that a length field could inflate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "io/source.h"

namespace fsdpckpt {

/// How the text of the Error begins that a ByteReader throws where its bytes end.
inline constexpr std::string_view kEndsEarly = "data ends early";

class ByteReader {
 public:
  /// The longest run that take() gives as one view.
  static constexpr std::size_t kMaxView = 4096;

  virtual ~ByteReader() = default;

  /// Bytes consumed so far.
  [[nodiscard]] std::uint64_t offset() const { return base_ + static_cast<std::uint64_t>(at_ - begin_); }
  /// Bytes that surely remain, or the largest number when unknown (streams).
  [[nodiscard]] virtual std::uint64_t remaining() const = 0;
  /// The next byte; Error(input) "ends early" at the end.
  std::byte next() {
    if (at_ == end_) fill(1);
    return *at_++;
  }
  /// A view of the next `count` <= kMaxView bytes, valid until the next call; Error(input) at the end.
  const std::byte* take(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) fill(count);
    const std::byte* view = at_;
    at_ += count;
    return view;
  }
  /// Copies out.size() bytes, of any number; Error(input) at the end.
  void read(MutableBytes out);
  /// Passes over `count` bytes; Error(input) at the end.
  void skip(std::uint64_t count);
  /// True at the end.
  bool at_end();

 protected:
  /// Appends more bytes behind [at_, end_) so that at least `count` are there; false at the end of input.
  /// May move what is left to another place; must keep base_ right.
  virtual bool refill(std::size_t count) = 0;
  /// Passes over up to `count` bytes behind end_, once nothing is left before it, without reading them;
  /// returns how many. Readers that cannot seek pass none.
  virtual std::uint64_t seek(std::uint64_t count);

  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::uint64_t base_ = 0;  ///< offset of begin_

 private:
  void fill(std::size_t count);
  [[noreturn]] void throw_ends_early(std::uint64_t count) const;
};

/// Reads memory that the caller owns.
class MemoryReader final : public ByteReader {
 public:
  explicit MemoryReader(Bytes bytes);
  [[nodiscard]] std::uint64_t remaining() const override;

 private:
  bool refill(std::size_t) override { return false; }
};

/// Reads a source front to back through one 256 KiB buffer; the source must outlive it.
class SourceReader final : public ByteReader {
 public:
  explicit SourceReader(const Source& source);
  [[nodiscard]] std::uint64_t remaining() const override;

 private:
  bool refill(std::size_t count) override;
  std::uint64_t seek(std::uint64_t count) override;

  const Source& source_;
  std::uint64_t size_;
  std::vector<std::byte> buffer_;
};

/// Decodes a zstd stream (one or more frames, skippable frames allowed) front to back, window at most 128 MiB
/// (ZSTD_d_windowLogMax 27); the source must outlive it. Error(input) on a broken frame.
class ZstdReader final : public ByteReader {
 public:
  explicit ZstdReader(const Source& source);
  ~ZstdReader() override;
  [[nodiscard]] std::uint64_t remaining() const override { return UINT64_MAX; }

 private:
  bool refill(std::size_t count) override;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fsdpckpt
