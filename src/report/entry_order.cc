#include "report/entry_order.h"

#include <algorithm>
#include <compare>

namespace fsdpckpt {
namespace {

std::uint64_t size_of(const Checkpoint::Data& checkpoint, EntryId id, const Entry& entry) {
  return entry.kind == EntryKind::object ? object_size(checkpoint, id) : byte_count(entry);
}

bool shape_before(const Entry& a, const Entry& b) {
  if (a.shape.size() != b.shape.size()) return a.shape.size() < b.shape.size();
  return std::ranges::lexicographical_compare(a.shape, b.shape);
}

}  // namespace

std::uint64_t object_size(const Checkpoint::Data& checkpoint, EntryId entry) {
  if (checkpoint.parts.contains(entry)) return 0;
  const Chunk chunk = checkpoint.index.chunk(entry, 0);
  return chunk.is_stored ? chunk.extent.length : 0;
}

void sort_entries(const Checkpoint::Data& checkpoint, SortBy by, std::vector<EntryId>& entries) {
  if (by == SortBy::stored) return;
  std::ranges::stable_sort(entries, [&](EntryId left, EntryId right) {
    const Entry a = checkpoint.index.entry(left), b = checkpoint.index.entry(right);
    if (by == SortBy::name) return a.name < b.name;
    if (by == SortBy::size) return size_of(checkpoint, left, a) > size_of(checkpoint, right, b);
    if (by == SortBy::chunks) return a.chunk_count > b.chunk_count;
    if (a.kind != b.kind) return a.kind == EntryKind::tensor;
    if (a.kind == EntryKind::object) return false;
    return by == SortBy::dtype ? name(a.dtype) < name(b.dtype) : shape_before(a, b);
  });
}

}  // namespace fsdpckpt
