#include "formats/dcp_merge.h"

#include <fsdpckpt/error.h>

#include <algorithm>

#include "base/text.h"

namespace fsdpckpt {
namespace {

struct Copy {
  std::size_t rank;
  EntryId entry;
};

void check_agreement(const Entry& a, const Entry& b) {
  if (a.kind == b.kind && a.dtype == b.dtype && std::ranges::equal(a.shape, b.shape)) return;
  throw Error(ErrorKind::input, "the ranks disagree about the kind, dtype or shape of an entry",
              {.entry = std::string(a.name)});
}

/// One entry of the joined index: the chunks (or object copies) of every rank, lowest rank first.
void add_joined(const std::vector<RankMetadata>& ranks, const std::vector<Copy>& copies, Index& index) {
  const Entry entry = ranks[copies[0].rank].index.entry(copies[0].entry);
  std::vector<std::uint32_t> extents;
  const std::uint32_t first = index.next_box();
  for (const Copy& copy : copies) {
    const Index& source = ranks[copy.rank].index;
    const Entry part = source.entry(copy.entry);
    check_agreement(entry, part);
    for (std::uint64_t i = 0; i < part.chunk_count; ++i) {
      const Chunk chunk = source.chunk(copy.entry, i);
      extents.push_back(chunk.is_stored ? index.add_extent(chunk.extent) : kNoExtent);
      if (entry.kind == EntryKind::tensor) index.add_box(chunk.offsets, chunk.sizes);
    }
  }
  const auto count = static_cast<std::uint32_t>(extents.size());
  const EntryId id = entry.kind == EntryKind::tensor
                         ? index.add_tensor(entry.name, entry.dtype, entry.shape, first, count)
                         : index.add_object(entry.name, count);
  for (std::uint32_t i = 0; i < count; ++i) index.place(id, i, extents[i]);
}

void join(const std::vector<RankMetadata>& ranks, Index& index) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (EntryId entry = 0; entry < ranks[rank].index.entry_count(); ++entry) {
      const std::string_view name = ranks[rank].index.entry(entry).name;
      if (index.find(name) < index.entry_count()) continue;
      std::vector<Copy> copies;
      for (std::size_t other = rank; other < ranks.size(); ++other) {
        const EntryId found = ranks[other].index.find(name);
        if (found < ranks[other].index.entry_count()) copies.push_back({other, found});
      }
      add_joined(ranks, copies, index);
    }
  }
}

}  // namespace

void RankMetadata::add_path(EntryId entry, const std::vector<Key>& keys) {
  Path path{.entry = entry, .keys = keys};
  for (Key& key : path.keys) {
    if (!key.is_number) key.text = texts.emplace_back(key.text);
  }
  paths.push_back(std::move(path));
}

std::uint64_t merge_ranks(std::vector<RankMetadata> ranks, Checkpoint::Data& data) {
  std::uint64_t unlisted = 0;
  if (ranks.size() > 1) join(ranks, data.index);
  std::vector<bool> has_path(ranks.size() > 1 ? data.index.entry_count() : ranks[0].index.entry_count());
  for (RankMetadata& rank : ranks) {
    unlisted += rank.unlisted_items;
    for (const RankMetadata::Path& path : rank.paths) {
      const EntryId id = ranks.size() > 1 ? data.index.find(rank.index.entry(path.entry).name) : path.entry;
      if (!has_path[id]) data.tree.insert(path.keys, id);
      has_path[id] = true;
    }
  }
  if (ranks.size() == 1) data.index = std::move(ranks[0].index);
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Key flat{.text = data.index.entry(id).name};
    if (!has_path[id]) data.tree.insert({&flat, 1}, id);
  }
  return unlisted;
}

}  // namespace fsdpckpt
