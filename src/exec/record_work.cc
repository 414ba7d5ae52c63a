#include "exec/record_work.h"

#include <fsdpckpt/error.h>

#include <algorithm>

#include "base/text.h"
#include "model/coverage.h"

namespace fsdpckpt {

RecordWork::RecordWork(const Checkpoint::Data& checkpoint, const OutputRecord& record, std::uint64_t size)
    : crc_(size) {
  if (record.source == OutputRecord::Source::text) {
    text_ = &record.text;
    return;
  }
  name_ = checkpoint.index.entry(record.entry).name;
  if (record.source == OutputRecord::Source::storage)
    add_storage(record.storage);
  else
    add_tensor(checkpoint, record.entry);
}

SourceChunk& RecordWork::new_chunk(const Entry& entry, const Chunk& chunk) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : chunk.sizes) elements *= static_cast<std::uint64_t>(size);
  SourceChunk& source = chunks_.emplace_back(elements * item_size_);
  source.chunk = chunk;
  source.expected = {.name = entry.name, .dtype = entry.dtype, .sizes = chunk.sizes, .offsets = chunk.offsets};
  source.box = {.shape = entry.shape, .offsets = chunk.offsets, .sizes = chunk.sizes};
  if (chunk.extent.encoding == Encoding::torch_zip_zstd) source.stream = std::make_unique<StreamChunk>();
  return source;
}

void RecordWork::order(SourceChunk& chunk) {
  const std::uint64_t end = end_element(chunk.box);
  const std::uint64_t reached = order_.empty() ? end : std::max(end, order_.back().reached);
  order_.push_back({&chunk, first_element(chunk.box), reached});
}

void RecordWork::add_tensor(const Checkpoint::Data& data, EntryId id) {
  const Entry entry = data.index.entry(id);
  item_size_ = fsdpckpt::item_size(entry.dtype);
  const Coverage coverage = cover(data.index, id);
  if (!coverage.problems.empty()) {
    throw Error(ErrorKind::input, describe(coverage.problems.front(), entry),
                {.path = data.root, .entry = std::string(entry.name)});
  }
  std::size_t replica = 0;
  for (std::size_t i = 0; i < coverage.chunks.size(); ++i) {
    SourceChunk& chunk = new_chunk(entry, data.index.chunk(id, coverage.chunks[i]));
    for (; replica < coverage.replica_ends[i]; ++replica) {
      chunk.replicas.push_back(&new_chunk(entry, data.index.chunk(id, coverage.replicas[replica])));
    }
    order(chunk);
  }
}

void RecordWork::add_storage(const StoredStorage& storage) {
  storage_shape_ = static_cast<std::int64_t>(storage.size);
  if (storage.size == 0) return;
  const Entry entry{.name = name_, .dtype = DType::uint8, .shape = {&storage_shape_, 1}};
  SourceChunk& chunk = new_chunk(
      entry,
      {.offsets = {&storage_offset_, 1}, .sizes = {&storage_shape_, 1}, .is_stored = true, .extent = storage.extent});
  chunk.payload = {.offset = storage.extent.offset,
                   .storage_offset = storage.extent.offset,
                   .storage_size = storage.size,
                   .crc = storage.crc};
  if (chunk.stream) chunk.stream->set_storage(storage.skip, storage.size, storage.crc);
  order(chunk);
}

std::size_t RecordWork::first_reaching(std::uint64_t begin) const {
  const auto found = std::ranges::partition_point(order_, [&](const Ordered& chunk) { return chunk.reached <= begin; });
  return static_cast<std::size_t>(found - order_.begin());
}

}  // namespace fsdpckpt
