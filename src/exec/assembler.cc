#include "exec/assembler.h"

#include <cstring>

#include "base/text.h"

namespace fsdpckpt {

void scatter_piece(const BoxInTensor& box, const Piece& piece, Bytes bytes, std::uint32_t item_size,
                   std::uint64_t first, MutableBytes out) {
  for_each_run(box, piece, [&](const Run& run) {
    std::memcpy(out.data() + (run.to - first) * item_size, bytes.data() + run.from * item_size, run.count * item_size);
  });
}

void Assembler::scatter(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, std::uint64_t begin,
                        MutableBytes out) {
  const MutableBytes bytes = piece_.take(piece.count * item_size);
  reader_.read(chunk, item_size, piece, bytes);
  scatter_piece(chunk.box, piece, bytes, item_size, begin, out);
}

std::uint32_t Assembler::fill(RecordWork& record, std::uint64_t begin, MutableBytes out) {
  if (record.text() != nullptr) {
    std::memcpy(out.data(), record.text()->data() + begin, out.size());
    return crc32(out);
  }
  const std::uint32_t item_size = record.item_size();
  const std::uint64_t first = begin / item_size, end = first + out.size() / item_size;
  std::uint32_t crc = 0;
  std::uint64_t filled = 0;
  bool in_order =
      true;  // so far each piece was one run right behind the one before: their checksums combine to the tile's
  record.for_each_piece(first, end, [&](SourceChunk& chunk, const Piece& piece) {
    const auto place = single_run(chunk.box, piece);
    if (!place) {
      in_order = false;
      return scatter(chunk, item_size, piece, first, out);
    }
    const MutableBytes part = out.subspan((*place - first) * item_size, piece.count * item_size);
    const std::uint32_t part_crc = reader_.read(chunk, item_size, piece, part);
    in_order = in_order && part.data() == out.data() + filled;
    if (in_order) crc = filled == 0 ? part_crc : crc32_combine(crc, part_crc, part.size());
    filled += part.size();
  });
  return in_order ? crc : crc32(out);
}

}  // namespace fsdpckpt
