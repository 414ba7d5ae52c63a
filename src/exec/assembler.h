// Assembles the bytes of tiles and batches in one bounded buffer: pieces are read to their places, checksums are taken
// while the bytes are hot. One per thread.
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "exec/chunk_reader.h"
#include "exec/record_work.h"

namespace fsdpckpt {

/// Spreads a piece's elements, dense in `bytes`, over `out`, which starts at element `first` of the tensor.
void scatter_piece(const BoxInTensor& box, const Piece& piece, Bytes bytes, std::uint32_t item_size,
                   std::uint64_t first, MutableBytes out);

class Assembler {
 public:
  explicit Assembler(ChunkReader& reader) : reader_(reader) {}

  /// Fills `out` with bytes [begin, begin + out.size()) of the record's payload and returns their CRC-32.
  std::uint32_t fill(RecordWork& record, std::uint64_t begin, MutableBytes out);

 private:
  void scatter(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, std::uint64_t begin, MutableBytes out);

  ChunkReader& reader_;
  Buffer piece_;
};

}  // namespace fsdpckpt
