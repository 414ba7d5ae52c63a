// Reads pieces of chunks: finds the payload once, reads small items whole, checks the stored checksum when the last
// piece of a chunk has come by. One per thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/buffer.h"
#include "exec/record_work.h"
#include "io/file_set.h"

namespace fsdpckpt {

/// Counters of a run, shared by all threads.
struct ReadCounters {
  std::atomic<std::uint64_t> chunks{0};
  std::atomic<std::uint64_t> chunks_unchecked{0};
  std::atomic<std::uint64_t> replicas{0};
};

struct ReadOptions {
  bool check_crc = true;
  std::uint64_t gather_bytes = 1 << 20;  ///< most bytes read at once for the elements of a strided piece
};

class ChunkReader {
 public:
  ChunkReader(const FileSet& files, const ReadOptions& options, ReadCounters& counters)
      : files_(files), options_(options), counters_(counters) {}

  /// Fills `out` with the piece's elements and returns their CRC-32. Throws Error(input) naming the file when the item
  /// is not what the metadata says, its checksum disagrees, or a replica holds other bytes.
  std::uint32_t read(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out);

 private:
  void read_bytes(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out);
  void read_small_item(SourceChunk& chunk, MutableBytes out);
  void find_payload(SourceChunk& chunk);
  void compare_replicas(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, Bytes bytes);
  void check_storage(const Source& source, const SourceChunk& chunk) const;
  void check(SourceChunk& chunk);

  const FileSet& files_;
  ReadOptions options_;
  ReadCounters& counters_;
  PayloadFinder finder_;
  Buffer item_, replica_;
};

}  // namespace fsdpckpt
