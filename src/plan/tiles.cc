#include "plan/tiles.h"

#include <algorithm>

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kLargestInBatch = 256 << 10;

}  // namespace

bool is_compressed(const Checkpoint::Data& checkpoint, const OutputRecord& record) {
  if (record.source == OutputRecord::Source::text) return false;
  if (record.source == OutputRecord::Source::storage) return record.storage.extent.encoding == Encoding::torch_zip_zstd;
  const Entry entry = checkpoint.index.entry(record.entry);
  for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
    const Chunk chunk = checkpoint.index.chunk(record.entry, i);
    if (chunk.is_stored && chunk.extent.encoding == Encoding::torch_zip_zstd) return true;
  }
  return false;
}

/// An empty record has no tile that could complete it, so it is always part of a batch.
bool JobSequence::fits_batch(std::uint32_t record) const {
  const std::uint64_t size = plan_.layout.records()[record].size;
  return size == 0 || (size <= std::min(kLargestInBatch, tile_bytes_ / 2) && !is_compressed(record));
}

bool JobSequence::is_compressed(std::uint32_t record) const {
  return fsdpckpt::is_compressed(checkpoint_, plan_.records[record]);
}

Job JobSequence::next_batch() {
  const auto& records = plan_.layout.records();
  const std::uint64_t start = records[record_].header;
  Job job{.record = record_, .is_batch = true};
  while (record_ < records.size() && fits_batch(record_) &&
         records[record_].data + records[record_].size - start <= tile_bytes_)
    ++record_;
  job.record_end = record_;
  return job;
}

std::optional<Job> JobSequence::next() {
  const auto& records = plan_.layout.records();
  if (record_ == records.size()) return std::nullopt;
  if (begin_ == 0 && fits_batch(record_)) return next_batch();
  const std::uint64_t size = records[record_].size;
  Job job{.record = record_, .record_end = record_ + 1, .begin = begin_, .end = size};
  if (!is_compressed(record_)) job.end = std::min(size, begin_ + tile_bytes_);
  begin_ = job.end;
  if (begin_ == size) {
    ++record_;
    begin_ = 0;
  }
  return job;
}

}  // namespace fsdpckpt
