// The packed arrays behind a Checkpoint, filled by the readers. A chunk costs 16 bytes a dimension for its box, 4 for
// its place and 24 for its extent; a test holds the whole to 128 bytes a chunk plus names.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/growing_array.h"

namespace fsdpckpt {

inline constexpr std::uint32_t kNoExtent = 0xffffffffU;

class Index {
 public:
  /// Appends a box to the chunks that the next add_tensor will own; both spans have one number a dimension.
  /// Returns its number.
  std::uint32_t add_box(std::span<const std::int64_t> offsets, std::span<const std::int64_t> sizes);
  /// The number the next add_box gives.
  [[nodiscard]] std::uint32_t next_box() const { return static_cast<std::uint32_t>(box_at_.size()); }
  struct Box {
    std::span<const std::int64_t> offsets, sizes;
  };
  [[nodiscard]] Box box(std::uint32_t box) const;

  /// Adds a tensor whose chunks are boxes [first, first + count). The name must be new: Error(input) otherwise.
  EntryId add_tensor(std::string_view name, DType dtype, std::span<const std::int64_t> shape, std::uint32_t first,
                     std::uint32_t count);
  /// Adds an object with room for `copies` stored copies (rank-local metadata holds one a rank); see place().
  EntryId add_object(std::string_view name, std::uint32_t copies = 1);

  std::uint32_t add_extent(const Extent& extent);
  [[nodiscard]] Extent extent(std::uint32_t extent) const { return extents_[extent]; }
  [[nodiscard]] std::size_t extent_count() const { return extents_.size(); }
  /// Says where chunk `index` of a tensor lies.
  void place(EntryId entry, std::uint64_t index, std::uint32_t extent);
  /// kNoExtent when nothing was said.
  [[nodiscard]] std::uint32_t placed(EntryId entry, std::uint64_t index) const;
  /// The chunk of `entry` with these offsets, trying `hint` first; chunk_count when there is none.
  [[nodiscard]] std::uint64_t find_chunk(EntryId entry, std::span<const std::int64_t> offsets,
                                         std::uint64_t hint) const;

  [[nodiscard]] std::size_t entry_count() const { return entries_.size(); }
  [[nodiscard]] Entry entry(EntryId entry) const;
  [[nodiscard]] Chunk chunk(EntryId entry, std::uint64_t index) const;
  /// entry_count() when there is none. `guess` is tried first: names are mostly looked up in the order of the entries.
  [[nodiscard]] EntryId find(std::string_view name, EntryId guess = 0) const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct EntryRecord {
    std::string_view name;
    EntryKind kind;
    DType dtype;
    std::uint8_t dims;
    std::uint32_t first = 0;  ///< box number
    std::uint32_t count = 0;
    std::uint64_t shape_at = 0;  ///< in numbers_
  };
  EntryId add_entry(std::string_view name, EntryKind kind);
  [[nodiscard]] std::span<const std::int64_t> offsets_of(const EntryRecord& record, std::uint64_t index) const;
  [[nodiscard]] bool is_empty(const EntryRecord& record, std::uint64_t index) const;
  std::uint64_t scan_chunks(const EntryRecord& record, std::span<const std::int64_t> offsets) const;
  std::uint64_t look_up_chunk(EntryId entry, std::span<const std::int64_t> offsets) const;
  void fill_lookup() const;

  std::deque<std::string> names_;
  std::deque<EntryRecord> entries_;
  std::unordered_map<std::string_view, EntryId> by_name_;
  GrowingArray<std::int64_t> numbers_;      ///< shapes, and per box: offsets, sizes
  GrowingArray<std::uint64_t> box_at_;      ///< per box: where its numbers start, and in the low 7 bits its dimensions
  GrowingArray<std::uint32_t> box_extent_;  ///< per box: its extent
  GrowingArray<Extent> extents_;
  std::uint64_t name_bytes_ = 0;
  /// hash of (entry, offsets) -> chunk, made only when a hint is wrong in an entry of very many chunks.
  mutable std::unordered_map<std::uint64_t, std::uint32_t> chunk_lookup_;
  mutable std::size_t looked_up_boxes_ = 0;
};

}  // namespace fsdpckpt
