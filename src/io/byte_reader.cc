#include "io/byte_reader.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kBufferBytes = 256ULL * 1024;

}  // namespace

std::uint64_t ByteReader::seek(std::uint64_t) { return 0; }

void ByteReader::throw_ends_early(std::uint64_t count) const {
  const bool is_stream = remaining() == UINT64_MAX;  // all that is left of it was decoded in vain
  const std::uint64_t left = is_stream ? static_cast<std::uint64_t>(end_ - at_) : remaining();
  throw Error(ErrorKind::input, cat(kEndsEarly, ": bytes needed: ", count, ", left: ", left), {.offset = offset()});
}

void ByteReader::fill(std::size_t count) {
  if (count > kMaxView) throw Error(ErrorKind::bug, cat("a view of ", count, " bytes was asked for"));
  if (!refill(count)) throw_ends_early(count);
}

void ByteReader::read(MutableBytes out) {
  if (out.size() > remaining()) throw_ends_early(out.size());
  while (!out.empty()) {
    if (at_ == end_) fill(1);
    const std::size_t count = std::min(out.size(), static_cast<std::size_t>(end_ - at_));
    std::memcpy(out.data(), at_, count);
    at_ += count;
    out = out.subspan(count);
  }
}

void ByteReader::skip(std::uint64_t count) {
  if (count > remaining()) throw_ends_early(count);
  while (count > 0) {
    if (at_ == end_) count -= seek(count);
    if (count > 0 && at_ == end_) fill(1);
    const std::uint64_t buffered = std::min(count, static_cast<std::uint64_t>(end_ - at_));
    at_ += buffered;
    count -= buffered;
  }
}

bool ByteReader::at_end() { return at_ == end_ && !refill(1); }

MemoryReader::MemoryReader(Bytes bytes) {
  begin_ = at_ = bytes.data();
  end_ = begin_ + bytes.size();
}

std::uint64_t MemoryReader::remaining() const { return static_cast<std::uint64_t>(end_ - at_); }

SourceReader::SourceReader(const Source& source)
    : source_(source), size_(source.size()), buffer_(std::min(kBufferBytes, size_)) {
  begin_ = at_ = end_ = buffer_.data();
}

std::uint64_t SourceReader::remaining() const { return size_ - offset(); }

std::uint64_t SourceReader::seek(std::uint64_t count) {
  base_ = offset() + count;
  begin_ = at_ = end_ = buffer_.data();
  return count;
}

bool SourceReader::refill(std::size_t count) {
  if (remaining() < count) return false;
  const auto kept = static_cast<std::size_t>(end_ - at_);
  const std::size_t added = std::min(buffer_.size() - kept, remaining() - kept);
  base_ = offset();
  if (kept > 0) std::memmove(buffer_.data(), at_, kept);
  begin_ = at_ = buffer_.data();
  end_ = begin_ + kept;
  source_.read_at(base_ + kept, MutableBytes(buffer_).subspan(kept, added));
  end_ += added;
  return true;
}

}  // namespace fsdpckpt
