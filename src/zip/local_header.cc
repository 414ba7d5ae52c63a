#include "zip/local_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "zip/descriptor.h"
#include "zip/extra.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

struct Sizes {
  std::uint64_t size;
  std::uint64_t stored_size;
};

/// Where the zip64 values are needed: only from 4 GiB on, so an own read costs nothing.
Sizes read_wide_sizes(const Source& source, const LocalBytes& fixed, const CentralEntry& entry) {
  std::vector<std::byte> extra(fixed.extra_length);
  source.read_at(entry.header + sizeof fixed + fixed.name_length, extra);
  Zip64Values wide(extra, entry.name, entry.header);
  const std::uint64_t size = wide.resolve(fixed.size);
  return {size, wide.resolve(fixed.stored_size)};
}

void require_same_sizes(const Source& source, const LocalBytes& fixed, const CentralEntry& entry) {
  Sizes local{fixed.size, fixed.stored_size};
  if (fixed.size == kSaturated32 || fixed.stored_size == kSaturated32) local = read_wide_sizes(source, fixed, entry);
  const bool zero_allowed = (fixed.flags & kFlagDescriptor) != 0;
  const auto same = [&](std::uint64_t a, std::uint64_t b) { return a == b || (zero_allowed && a == 0); };
  if (!same(local.size, entry.size) || !same(local.stored_size, entry.size)) {
    fail(entry.header, cat("zip record ", quote(entry.name), " has ", entry.size, " bytes in the directory and ",
                           local.size, " (stored ", local.stored_size, ") in its local header"));
  }
  // 0 where the checksum became known only behind the payload: torch, zipfile and unzip take the directory's.
  if (fixed.crc != entry.crc && fixed.crc != 0) {
    fail(entry.header, cat("zip record ", quote(entry.name), " has another checksum in its local header"));
  }
}

void require_same_name(const std::byte* local_name, const LocalBytes& fixed, const CentralEntry& entry) {
  const bool same =
      fixed.name_length == entry.name.size() && std::memcmp(local_name, entry.name.data(), entry.name.size()) == 0;
  if (!same) fail(entry.header, cat("zip record ", quote(entry.name), " has another name in its local header"));
  if (fixed.flags != entry.flags || fixed.method != kMethodStored) {
    fail(entry.header, cat("zip record ", quote(entry.name), " has other flags or another method in its local header"));
  }
}

void require_same_descriptor(const Source& source, std::uint64_t at, bool is_zip64, const CentralEntry& entry) {
  std::array<std::byte, sizeof(Descriptor64Bytes)> bytes{};
  source.read_at(at, MutableBytes(bytes).first(descriptor_size(is_zip64)));
  const auto found = parse_descriptor(is_zip64, bytes.data(), entry.size);
  if (!found || found->crc != entry.crc)
    fail(at, cat("the descriptor behind zip record ", quote(entry.name), " disagrees with the directory"));
}

/// `taken` bytes from the header on are header, payload or descriptor; all must lie before the directory.
std::uint64_t advance(std::uint64_t from, std::uint64_t length, const CentralEntry& entry, std::uint64_t limit) {
  if (from > limit || limit - from < length) {
    fail(entry.header, cat("zip record ", quote(entry.name), " reaches into the directory or beyond it"));
  }
  return from + length;
}

}  // namespace

RecordPlace check_local_header(const Source& source, const CentralEntry& entry, std::uint64_t limit) {
  // One read: the fixed part, the name and the id of the first extra field. A name has at most 65,535 bytes.
  std::byte bytes[sizeof(LocalBytes) + kSaturated16 + kExtraHead];
  const std::size_t wanted = sizeof(LocalBytes) + entry.name.size() + kExtraHead;
  advance(entry.header, wanted - kExtraHead, entry, limit);
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, limit - entry.header));
  source.read_at(entry.header, MutableBytes(bytes, length));

  const auto fixed = load_le<LocalBytes>(bytes);
  if (fixed.signature != kLocalSignature) {
    fail(entry.header, cat("no local header of zip record ", quote(entry.name), " where the directory says"));
  }
  require_same_name(bytes + sizeof fixed, fixed, entry);
  const std::uint64_t head = sizeof fixed + fixed.name_length + fixed.extra_length;
  RecordPlace place;
  place.data = advance(entry.header, head, entry, limit);
  require_same_sizes(source, fixed, entry);
  const std::uint64_t data_end = advance(place.data, entry.size, entry, limit);
  place.end = data_end;
  if ((fixed.flags & kFlagDescriptor) == 0) return place;
  // Those with a zip64 extra, which torch and Python's zipfile write first, have a long descriptor.
  const std::byte* extra = bytes + sizeof fixed + fixed.name_length;
  const bool is_zip64 =
      length == wanted && fixed.extra_length >= kExtraHead && load_le<std::uint16_t>(extra) == kZip64Extra;
  place.end = advance(data_end, descriptor_size(is_zip64), entry, limit);
  require_same_descriptor(source, data_end, is_zip64, entry);
  return place;
}

}  // namespace fsdpckpt::zip
