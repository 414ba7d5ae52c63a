// Reads pieces of chunks: finds the payload once, reads small items whole, checks the stored checksum when the last
// piece of a chunk has come by. One per thread.
#pragma once

#include <fsdpckpt/error.h>

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

/// Of the bytes of a piece as they are stored, before what lazy bits ask for.
struct PieceChecksum {
  std::uint32_t seen = 0;
  std::uint32_t stored = 0;       ///< of the whole chunk; 0: none
  std::uint32_t is_compared = 0;  ///< not 0: the reader has compared already
};

class ChunkReader {
 public:
  ChunkReader(const FileSet& files, const ReadOptions& options, ReadCounters& counters)
      : files_(files), options_(options), counters_(counters) {}

  /// Fills `out` with the piece's elements and returns their CRC-32. Throws Error(input) naming the file when the item
  /// is not what the metadata says, its checksum disagrees, or a replica holds other bytes.
  std::uint32_t read(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out);

  /// The same for a rank that reads some pieces of a chunk: who knows all of them compares, see gather(). Replicas are
  /// not looked at.
  PieceChecksum read_alone(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out);
  /// What some rank's read_alone() gave for `length` bytes of the chunk from `offset` on. Throws Error(input) when the
  /// last of them shows that the checksum disagrees.
  void gather(SourceChunk& chunk, std::uint64_t offset, std::uint64_t length, const PieceChecksum& checksum);
  /// The Error(input) for a replica that holds other bytes.
  [[nodiscard]] Error differing_replica(const SourceChunk& replica) const;

 private:
  void read_bytes(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out);
  void read_small_item(SourceChunk& chunk, MutableBytes out);
  void find_payload(SourceChunk& chunk);
  void compare_replicas(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, Bytes bytes);
  void check_storage(const Source& source, const SourceChunk& chunk) const;
  void check(SourceChunk& chunk);
  [[nodiscard]] PieceChecksum checksum_of(SourceChunk& chunk, bool is_last, std::uint32_t crc) const;
  Error& in_chunk(Error& error, const SourceChunk& chunk) const;

  const FileSet& files_;
  ReadOptions options_;
  ReadCounters& counters_;
  PayloadFinder finder_;
  Buffer item_, replica_;
};

}  // namespace fsdpckpt
