#include "zip/end_record.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "zip/extra.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

constexpr std::size_t kTailSize = sizeof(Zip64EndBytes) + sizeof(LocatorBytes) + sizeof(EndBytes);

/// The last bytes of the archive, at most kTailSize.
struct Tail {
  std::array<std::byte, kTailSize> bytes;
  std::size_t length;
  std::uint64_t offset;  ///< in the archive

  /// The structure that ends `behind` bytes before the archive's end; the caller knows that it fits.
  template <class T>
  [[nodiscard]] T at_end(std::size_t behind) const {
    return load_le<T>(bytes.data() + length - behind - sizeof(T));
  }
};

EndBytes last_record(const Tail& tail, std::uint64_t at) {
  const auto end = tail.at_end<EndBytes>(0);
  if (end.signature != kEndSignature) {
    fail(at, "no zip end record at the end: the archive is cut short, has a comment or is followed by other bytes");
  }
  if (end.comment_length != 0) fail(at, "the zip end record announces a comment behind the end");
  if (end.disk != 0 || end.directory_disk != 0 || end.count_on_disk != end.count) {
    fail(at, "the zip archive is one part of several");
  }
  return end;
}

bool has_locator(const Tail& tail) {
  if (tail.length < sizeof(EndBytes) + sizeof(LocatorBytes)) return false;
  return tail.at_end<LocatorBytes>(sizeof(EndBytes)).signature == kLocatorSignature;
}

/// Both end records tell the same unless the small field is saturated (APPNOTE 4.4.1.4).
void require_same(std::uint64_t small, std::uint64_t saturated, std::uint64_t value, const char* what,
                  std::uint64_t at) {
  if (small != saturated && small != value) {
    fail(at, cat("the zip end records disagree about the ", what, ": ", small, " and ", value));
  }
}

Zip64EndBytes zip64_record(const Tail& tail) {
  const auto locator = tail.at_end<LocatorBytes>(sizeof(EndBytes));
  const std::uint64_t locator_at = tail.offset + tail.length - sizeof(EndBytes) - sizeof(LocatorBytes);
  if (locator.disk != 0 || locator.disks > 1) fail(locator_at, "the zip archive is one part of several");
  // tail.offset is where the record lies only when the tail is whole; a shorter archive has no room for one.
  if (tail.length < kTailSize || locator.zip64_end_offset != tail.offset) {
    fail(locator_at, "the zip64 locator does not point to the record in front of it");
  }
  const auto end = tail.at_end<Zip64EndBytes>(sizeof(EndBytes) + sizeof(LocatorBytes));
  if (end.signature != kZip64EndSignature) fail(tail.offset, "no zip64 end record where the locator points to");
  if (end.record_size != sizeof(Zip64EndBytes) - 12) fail(tail.offset, "the zip64 end record has an unknown size");
  if (end.disk != 0 || end.directory_disk != 0 || end.count_on_disk != end.count) {
    fail(tail.offset, "the zip archive is one part of several");
  }
  return end;
}

EndRecord combine(const EndBytes& end, const Zip64EndBytes& wide, std::uint64_t at) {
  require_same(end.count, kSaturated16, wide.count, "number of records", at);
  require_same(end.directory_size, kSaturated32, wide.directory_size, "size of the directory", at);
  require_same(end.directory_offset, kSaturated32, wide.directory_offset, "offset of the directory", at);
  return {wide.count, wide.directory_offset, wide.directory_size};
}

EndRecord without_zip64(const EndBytes& end, std::uint64_t at) {
  if (end.count == kSaturated16 || end.directory_size == kSaturated32 || end.directory_offset == kSaturated32) {
    fail(at, "the zip end record needs a zip64 end record and there is none");
  }
  return {end.count, end.directory_offset, end.directory_size};
}

/// `end_records` is the offset of the first of them.
void require_place(const EndRecord& found, std::uint64_t end_records) {
  if (found.directory_offset > end_records || end_records - found.directory_offset != found.directory_size) {
    fail(end_records, cat("the zip directory, ", found.directory_size, " bytes at ", found.directory_offset,
                          ", does not end where the end records start"));
  }
}

}  // namespace

EndRecord read_end_record(const Source& source) {
  const std::uint64_t size = source.size();
  if (size < sizeof(EndBytes)) fail(0, cat("too short for a zip archive: ", size, " bytes"));
  Tail tail;
  tail.length = static_cast<std::size_t>(std::min<std::uint64_t>(size, kTailSize));
  tail.offset = size - tail.length;
  source.read_at(tail.offset, MutableBytes(tail.bytes.data(), tail.length));
  const std::uint64_t at = size - sizeof(EndBytes);
  const EndBytes end = last_record(tail, at);
  const bool wide = has_locator(tail);
  const EndRecord found = wide ? combine(end, zip64_record(tail), at) : without_zip64(end, at);
  require_place(found, wide ? tail.offset : at);
  return found;
}

}  // namespace fsdpckpt::zip
