#include "model/index.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr int kDimBits = 7;  // at most 64 dimensions
constexpr std::uint64_t kMaxLinearSearch = 4096;

std::uint64_t hash_of(EntryId entry, std::span<const std::int64_t> offsets) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL * (entry + 1ULL);
  for (const std::int64_t offset : offsets) {
    hash ^= static_cast<std::uint64_t>(offset);
    hash *= 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

std::uint32_t Index::add_box(std::span<const std::int64_t> offsets, std::span<const std::int64_t> sizes) {
  if (box_at_.size() >= kNoExtent) throw Error(ErrorKind::input, "more than 4 billion chunks");
  box_at_.push_back(numbers_.append(offsets) << kDimBits | offsets.size());
  numbers_.append(sizes);
  box_extent_.push_back(kNoExtent);
  return static_cast<std::uint32_t>(box_at_.size() - 1);
}

Index::Box Index::box(std::uint32_t box) const {
  const std::uint64_t at = box_at_[box] >> kDimBits;
  const std::uint64_t dims = box_at_[box] & ((1U << kDimBits) - 1);
  return {.offsets = numbers_.slice(at, dims), .sizes = numbers_.slice(at + dims, dims)};
}

EntryId Index::add_entry(std::string_view name, EntryKind kind) {
  const auto id = static_cast<EntryId>(entries_.size());
  names_.emplace_back(name);
  if (!by_name_.emplace(names_.back(), id).second) {
    names_.pop_back();
    throw Error(ErrorKind::input, cat("entry ", quote(name), " is listed twice"), {.entry = std::string(name)});
  }
  name_bytes_ += name.size();
  entries_.push_back({.name = names_.back(), .kind = kind, .dtype = DType::uint8, .dims = 0});
  return id;
}

EntryId Index::add_tensor(std::string_view name, DType dtype, std::span<const std::int64_t> shape, std::uint32_t first,
                          std::uint32_t count) {
  const EntryId id = add_entry(name, EntryKind::tensor);
  EntryRecord& record = entries_.back();
  record.dtype = dtype;
  record.dims = static_cast<std::uint8_t>(shape.size());
  record.first = first;
  record.count = count;
  record.shape_at = numbers_.append(shape);
  return id;
}

EntryId Index::add_object(std::string_view name, std::uint32_t copies) {
  const EntryId id = add_entry(name, EntryKind::object);
  entries_.back().first = next_box();
  entries_.back().count = copies;
  for (std::uint32_t i = 0; i < copies; ++i) add_box({}, {});
  return id;
}

std::uint32_t Index::add_extent(const Extent& extent) {
  extents_.push_back(extent);
  return static_cast<std::uint32_t>(extents_.size() - 1);
}

void Index::place(EntryId entry, std::uint64_t index, std::uint32_t extent) {
  box_extent_[entries_[entry].first + index] = extent;
}

std::uint32_t Index::placed(EntryId entry, std::uint64_t index) const {
  return box_extent_[entries_[entry].first + index];
}

std::span<const std::int64_t> Index::offsets_of(const EntryRecord& record, std::uint64_t index) const {
  return box(static_cast<std::uint32_t>(record.first + index)).offsets;
}

std::uint64_t Index::find_chunk(EntryId entry, std::span<const std::int64_t> offsets, std::uint64_t hint) const {
  const EntryRecord& record = entries_[entry];
  if (offsets.size() != record.dims) return record.count;
  const bool hint_fits = hint < record.count && std::ranges::equal(offsets_of(record, hint), offsets);
  if (hint_fits && !is_empty(record, hint)) return hint;
  // Old writers gave an empty chunk the offsets of a real one: the real one is meant.
  const std::uint64_t found =
      record.count <= kMaxLinearSearch ? scan_chunks(record, offsets) : look_up_chunk(entry, offsets);
  return found == record.count && hint_fits ? hint : found;
}

bool Index::is_empty(const EntryRecord& record, std::uint64_t index) const {
  return std::ranges::find(box(static_cast<std::uint32_t>(record.first + index)).sizes, 0) !=
         box(static_cast<std::uint32_t>(record.first + index)).sizes.end();
}

std::uint64_t Index::scan_chunks(const EntryRecord& record, std::span<const std::int64_t> offsets) const {
  std::uint64_t empty_match = record.count;
  for (std::uint64_t i = 0; i < record.count; ++i) {
    if (!std::ranges::equal(offsets_of(record, i), offsets)) continue;
    if (!is_empty(record, i)) return i;
    if (empty_match == record.count) empty_match = i;
  }
  return empty_match;
}

std::uint64_t Index::look_up_chunk(EntryId entry, std::span<const std::int64_t> offsets) const {
  if (looked_up_boxes_ != box_at_.size()) fill_lookup();
  const EntryRecord& record = entries_[entry];
  const auto found = chunk_lookup_.find(hash_of(entry, offsets));
  if (found == chunk_lookup_.end() || found->second >= record.count) return record.count;
  return std::ranges::equal(offsets_of(record, found->second), offsets) ? found->second : record.count;
}

void Index::fill_lookup() const {
  chunk_lookup_.clear();
  for (const bool empty : {false, true}) {  // a real chunk goes before an empty one at the same offsets
    for (EntryId id = 0; id < entries_.size(); ++id) {
      const EntryRecord& record = entries_[id];
      for (std::uint32_t i = 0; i < record.count; ++i) {
        if (is_empty(record, i) == empty) chunk_lookup_.emplace(hash_of(id, offsets_of(record, i)), i);
      }
    }
  }
  looked_up_boxes_ = box_at_.size();
}

Entry Index::entry(EntryId entry) const {
  const EntryRecord& record = entries_[entry];
  return {.name = record.name,
          .kind = record.kind,
          .dtype = record.dtype,
          .shape = numbers_.slice(record.shape_at, record.dims),
          .chunk_count = record.count};
}

Chunk Index::chunk(EntryId entry, std::uint64_t index) const {
  const EntryRecord& record = entries_[entry];
  const auto number = static_cast<std::uint32_t>(record.first + index);
  const Box place = box(number);
  Chunk chunk{.offsets = place.offsets, .sizes = place.sizes};
  if (box_extent_[number] != kNoExtent) {
    chunk.is_stored = true;
    chunk.extent = extents_[box_extent_[number]];
  }
  return chunk;
}

EntryId Index::find(std::string_view name, EntryId guess) const {
  if (guess < entries_.size() && entries_[guess].name == name) return guess;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? static_cast<EntryId>(entries_.size()) : found->second;
}

std::uint64_t Index::bytes() const {
  const std::uint64_t per_entry = sizeof(EntryRecord) + sizeof(std::string) + 4 * sizeof(void*);
  return numbers_.bytes() + box_at_.bytes() + box_extent_.bytes() + extents_.bytes() + name_bytes_ +
         entries_.size() * per_entry;
}

}  // namespace fsdpckpt
