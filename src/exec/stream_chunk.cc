#include "exec/stream_chunk.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "exec/strided.h"
#include "formats/tensor_value.h"
#include "io/crc32.h"
#include "pickle/machine.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kMaxReordered = 256ULL << 20;
constexpr std::uint64_t kMostBehind = 1 << 20;  ///< small records and the directory
constexpr std::uint64_t kPassAtOnce = 64 << 10;

}  // namespace

StreamChunk::StreamChunk() = default;
StreamChunk::~StreamChunk() = default;

void StreamChunk::set_storage(std::uint64_t skip, std::uint64_t size, std::uint32_t crc) {
  storage_ = Storage{skip, size, crc};
}

void StreamChunk::open(const FileSet& files, const Extent& extent, const ExpectedChunk& expected) {
  file_ = files.source(extent.file);
  item_ = std::make_unique<SliceSource>(*file_, extent.offset, extent.length);
  bytes_ = std::make_unique<ZstdReader>(*item_);
  if (!storage_) return find_tensor(expected);
  bytes_->skip(storage_->skip);
  size_ = storage_->size;
}

/// Walks the archive's local headers to the tensor's record; data.pkl, which comes first, says which it is.
void StreamChunk::find_tensor(const ExpectedChunk& expected) {
  archive_ = std::make_unique<zip::ForwardReader>(*bytes_);
  pickle::Values values;
  std::optional<StoredTensor> tensor;
  while (const auto header = archive_->next()) {
    header_ = *header;
    const std::uint64_t begin = bytes_->offset();
    if (header_.name.ends_with("/data.pkl")) {
      tensor = tensor_of(values, pickle::Machine().read(*bytes_, values));
      finish_pickle(begin);
    } else if (tensor && header_.name.ends_with(cat("/data/", tensor->storage.key))) {
      break;
    } else {
      archive_->skip_payload(header_);
    }
  }
  if (!tensor || header_.name.find("/data/") == std::string::npos)
    throw Error(ErrorKind::input, "the item holds no tensor");
  check_item(expected, tensor->dtype, tensor->shape);
  lazy_ = tensor->lazy;
  const std::uint32_t element = item_size(tensor->dtype);
  size_ = static_cast<std::uint64_t>(tensor->storage.element_count) * item_size(tensor->storage.dtype);
  if (!header_.has_descriptor && header_.size != size_)  // with a descriptor, it says so behind the last byte
    throw Error(ErrorKind::input, cat("record ", quote(header_.name), " has ", header_.size,
                                      " bytes, the tensor's storage needs ", size_));
  start_ = static_cast<std::uint64_t>(tensor->storage_offset) * element;
  if (!is_row_major(tensor->shape, tensor->strides)) make_row_major(expected, tensor->strides);
}

/// Its bytes went through the pickle machine and are gone: they are decoded once more for their checksum.
void StreamChunk::finish_pickle(std::uint64_t begin) {
  const std::uint64_t length = bytes_->offset() - begin;
  if (header_.has_descriptor)
    header_.crc = archive_->read_descriptor(header_, length).crc;
  else if (length != header_.size)
    throw Error(ErrorKind::input, "the item's pickle ends early");
  std::vector<std::byte> pickle(length);
  ZstdReader again(*item_);
  again.skip(begin);
  again.read(pickle);
  zip::require_checksum({.name = header_.name, .data = begin, .crc = header_.crc}, crc32(pickle));
}

void StreamChunk::take(MutableBytes out) {
  bytes_->read(out);
  seen_ = crc32(out, seen_);
  at_ += out.size();
}

/// Bytes of the storage that are not the chunk's count for the checksum all the same.
void StreamChunk::pass(std::uint64_t count) {
  std::vector<std::byte> block(std::min(count, kPassAtOnce));
  for (; count > 0; count -= block.size()) {
    block.resize(std::min<std::uint64_t>(count, block.size()));
    take(block);
  }
}

void StreamChunk::make_row_major(const ExpectedChunk& expected, const std::vector<std::int64_t>& strides) {
  if (size_ > kMaxReordered)
    throw Error(ErrorKind::input, "unsupported: a compressed, non-contiguous chunk of more than 256 MiB");
  std::vector<std::byte> storage(size_);
  take(storage);
  dense_ = gather(MemorySource(storage), {.offset = start_, .strides = strides}, expected);
}

void StreamChunk::read(const FileSet& files, const Extent& extent, const ExpectedChunk& expected, std::uint64_t offset,
                       MutableBytes out) {
  if (!bytes_) open(files, extent, expected);
  if (!dense_.empty()) {
    std::memcpy(out.data(), dense_.data() + offset, out.size());
    return;
  }
  pass(start_ + offset - at_);
  take(out);
}

StreamChunk::Checksums StreamChunk::finish() {
  pass(size_ - at_);
  if (storage_) return {seen_, storage_->crc};
  const std::uint32_t stored = header_.has_descriptor ? archive_->read_descriptor(header_, size_).crc : header_.crc;
  read_to_end();
  return {seen_, stored};
}

/// Only its end shows that a stream was not cut, and is what its own checksum says.
void StreamChunk::read_to_end() {
  const std::uint64_t end = bytes_->offset() + kMostBehind;
  while (!bytes_->at_end()) {
    if (bytes_->offset() == end)
      throw Error(ErrorKind::input, "the item goes on for more than 1 MiB behind its tensor");
    bytes_->next();
  }
}

}  // namespace fsdpckpt
