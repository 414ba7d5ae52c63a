#include "exec/chunk_reader.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "exec/strided.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kWholeItem = 64 << 10;  ///< items up to this size are read with one read

std::string hex(std::uint32_t value) {
  std::string text(8, '0');
  for (int i = 7; i >= 0; --i, value >>= 4) text[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 15];
  return text;
}

bool covers_storage(const SourceChunk& chunk) {
  return chunk.payload.storage_size == chunk.bytes && chunk.payload.strides.empty();
}

void compare_checksums(std::uint32_t seen, std::uint32_t expected) {
  if (seen == expected) return;
  throw Error(ErrorKind::input,
              cat("checksum ", hex(seen), ", expected ", hex(expected), ": the stored bytes are damaged"), {},
              "copy the file again; --no-checksum converts all the same");
}

/// True when lazy bits changed the bytes.
bool apply_lazy(const SourceChunk& chunk, MutableBytes bytes) {
  const LazyBits& lazy = chunk.stream ? chunk.stream->lazy() : chunk.payload.lazy;
  if (!lazy.conjugate && !lazy.negate) return false;
  apply_lazy_bits(lazy, chunk.expected.dtype, bytes);
  return true;
}

}  // namespace

/// A chunk that is a view of a larger storage, or not in row-major order, is checked by its whole storage record before
/// use.
void ChunkReader::check_storage(const Source& source, const SourceChunk& chunk) const {
  const Payload& payload = chunk.payload;
  if (!options_.check_crc || payload.crc == 0 || covers_storage(chunk)) return;
  compare_checksums(crc32_of(source, payload.storage_offset, payload.storage_size), payload.crc);
}

void ChunkReader::read_small_item(SourceChunk& chunk, MutableBytes out) {
  const Extent& extent = chunk.chunk.extent;
  const MutableBytes bytes = item_.take(extent.length);
  files_.read_at(extent.file, extent.offset, bytes);
  const MemorySource item(bytes, cat(files_.path(extent.file), "@", extent.offset));
  chunk.payload = finder_.in_archive(item, chunk.expected);
  check_storage(item, chunk);
  if (chunk.payload.strides.empty())
    std::memcpy(out.data(), bytes.data() + chunk.payload.offset, out.size());
  else
    gather_piece(item, chunk.payload, chunk.expected, {0, out.size() / item_size(chunk.expected.dtype)}, out,
                 options_.gather_bytes);
}

void ChunkReader::find_payload(SourceChunk& chunk) {
  const Extent& extent = chunk.chunk.extent;
  if (extent.encoding == Encoding::plain) return;
  const auto file = files_.source(extent.file);
  if (!zip::starts_like_zip(
          SliceSource(*file, extent.offset,
                      extent.length))) {  // SerializationFormat.SAFETENSORS: one blob for all tensors of the file
    chunk.payload = finder_.in_safetensors(*file, extent.offset, chunk.expected);
    return;
  }
  const SliceSource item(*file, extent.offset, extent.length);
  const EndsCachedSource ends(item, 4096);
  chunk.payload = finder_.in_archive(ends, chunk.expected);
  chunk.payload.offset += extent.offset;
  chunk.payload.storage_offset += extent.offset;
  check_storage(*file, chunk);
}

void ChunkReader::read_bytes(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out) {
  const Extent& extent = chunk.chunk.extent;
  if (chunk.stream) return chunk.stream->read(files_, extent, chunk.expected, piece.first * item_size, out);
  const bool is_whole = out.size() == chunk.bytes;
  if (is_whole && extent.encoding == Encoding::torch_zip && extent.length <= kWholeItem && extent.length > out.size())
    return read_small_item(chunk, out);
  std::call_once(chunk.found, [&] { find_payload(chunk); });
  if (chunk.payload.strides.empty())
    return files_.read_at(extent.file, chunk.payload.offset + piece.first * item_size, out);
  gather_piece(*files_.source(extent.file), chunk.payload, chunk.expected, piece, out, options_.gather_bytes);
}

Error ChunkReader::differing_replica(const SourceChunk& replica) const {
  return {ErrorKind::input, cat("two replicas of a chunk hold different bytes; the other one is in ",
                                quote(files_.path(replica.chunk.extent.file)))};
}

void ChunkReader::compare_replicas(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, Bytes bytes) {
  for (SourceChunk* replica : chunk.replicas) {
    const MutableBytes other = replica_.take(bytes.size());
    read_bytes(*replica, item_size, piece, other);
    if (std::memcmp(other.data(), bytes.data(), bytes.size()) == 0) continue;
    throw differing_replica(*replica);
  }
}

/// A chunk that is a part of its storage was checked when it was found, a compressed one is checked with the whole of
/// its storage.
void ChunkReader::check(SourceChunk& chunk) {
  ++counters_.chunks;
  counters_.replicas += chunk.replicas.size();
  StreamChunk::Checksums sums{chunk.crc.value(), chunk.payload.crc};
  if (chunk.stream) sums = chunk.stream->finish();
  if (sums.stored == 0)
    ++counters_.chunks_unchecked;
  else if (options_.check_crc && (chunk.stream || covers_storage(chunk)))
    compare_checksums(sums.seen, sums.stored);
}

Error& ChunkReader::in_chunk(Error& error, const SourceChunk& chunk) const {
  return error.in_path(files_.path(chunk.chunk.extent.file))
      .in_entry(std::string(chunk.expected.name))
      .in_box(chunk.box.shape.empty() ? "" : box_text(chunk.chunk.offsets, chunk.chunk.sizes));
}

PieceChecksum ChunkReader::checksum_of(SourceChunk& chunk, bool is_last, std::uint32_t crc) const {
  if (!chunk.stream) return {.seen = crc, .stored = chunk.payload.crc, .is_compared = covers_storage(chunk) ? 0U : 1U};
  if (!is_last) return {.seen = crc};
  const StreamChunk::Checksums sums = chunk.stream->finish();
  if (sums.stored != 0 && options_.check_crc) compare_checksums(sums.seen, sums.stored);
  return {.seen = crc, .stored = sums.stored, .is_compared = 1};
}

std::uint32_t ChunkReader::read(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece, MutableBytes out) {
  try {
    read_bytes(chunk, item_size, piece, out);
    if (!chunk.replicas.empty()) compare_replicas(chunk, item_size, piece, out);
    const std::uint32_t crc = crc32(out);
    if (chunk.crc.add(piece.first * item_size, out.size(), crc)) check(chunk);
    return apply_lazy(chunk, out) ? crc32(out) : crc;
  } catch (Error& error) {
    throw in_chunk(error, chunk);
  }
}

PieceChecksum ChunkReader::read_alone(SourceChunk& chunk, std::uint32_t item_size, const Piece& piece,
                                      MutableBytes out) {
  try {
    read_bytes(chunk, item_size, piece, out);
    const bool is_last = piece.first * item_size + out.size() == chunk.bytes;
    const PieceChecksum checksum = checksum_of(chunk, is_last, crc32(out));
    apply_lazy(chunk, out);
    return checksum;
  } catch (Error& error) {
    throw in_chunk(error, chunk);
  }
}

void ChunkReader::gather(SourceChunk& chunk, std::uint64_t offset, std::uint64_t length,
                         const PieceChecksum& checksum) {
  if (checksum.stored != 0) chunk.payload.crc = checksum.stored;
  if (!chunk.crc.add(offset, length, checksum.seen)) return;
  ++counters_.chunks;
  counters_.replicas += chunk.replicas.size();
  if (chunk.payload.crc == 0) {
    ++counters_.chunks_unchecked;
    return;
  }
  if (checksum.is_compared != 0 || !options_.check_crc) return;
  try {
    compare_checksums(chunk.crc.value(), chunk.payload.crc);
  } catch (Error& error) {
    throw in_chunk(error, chunk);
  }
}

}  // namespace fsdpckpt
