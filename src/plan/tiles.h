// The tiles of an output, enumerated lazily: large records are cut into tiles, neighbouring small records are taken
// together into one batch, which is written with one write.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/torch_writer.h"

namespace fsdpckpt {

/// A unit of work. Either a tile: bytes [begin, end) of the payload of one record; or a batch: whole records
/// [record, record_end), headers included.
struct Job {
  std::uint32_t record = 0;
  std::uint32_t record_end = 0;  ///< batch: behind its last record; tile: record + 1
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_batch = false;
};

class JobSequence {
 public:
  /// `tile_bytes` bounds the payload of a tile and the file range of a batch. Records whose sources are compressed
  /// become one tile each, whatever their size: they can only be decoded front to back.
  JobSequence(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, std::uint64_t tile_bytes)
      : checkpoint_(checkpoint), plan_(plan), tile_bytes_(tile_bytes) {}

  /// The next job in file order, or nothing.
  std::optional<Job> next();

 private:
  Job next_batch();
  [[nodiscard]] bool fits_batch(std::uint32_t record) const;
  [[nodiscard]] bool is_compressed(std::uint32_t record) const;

  const Checkpoint::Data& checkpoint_;
  const TorchFilePlan& plan_;
  std::uint64_t tile_bytes_;
  std::uint32_t record_ = 0;
  std::uint64_t begin_ = 0;
};

/// True when some chunk of a record is stored compressed.
bool is_compressed(const Checkpoint::Data& checkpoint, const OutputRecord& record);

}  // namespace fsdpckpt
