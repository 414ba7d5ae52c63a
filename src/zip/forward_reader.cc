#include "zip/forward_reader.h"

#include <fsdpckpt/error.h>

#include <vector>

#include "base/text.h"
#include "io/crc32.h"
#include "zip/extra.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

/// torch's small records (pickles, version, byteorder) fit; storages are never passed over by searching.
constexpr std::uint64_t kMaxSearch = std::uint64_t{1} << 20;

void resolve_sizes(const LocalBytes& fixed, Bytes extra, std::uint64_t at, LocalHeader& header) {
  header.is_zip64 = find_extra(extra, kZip64Extra, at).has_value();
  Zip64Values wide(extra, header.name, at);
  header.size = wide.resolve(fixed.size);
  if (wide.resolve(fixed.stored_size) != header.size) {
    fail(at, cat("zip record ", quote(header.name), " is stored, but its two sizes differ"));
  }
}

/// True when `bytes` are a whole payload and its descriptor. A payload may hold bytes that look like a descriptor, so
/// the checksum decides, unless torch was told to leave it out (crc 0).
bool ends_with_descriptor(const LocalHeader& header, Bytes bytes) {
  const std::size_t payload_size = bytes.size() - descriptor_size(header.is_zip64);
  const auto found = parse_descriptor(header.is_zip64, bytes.data() + payload_size, payload_size);
  return found && (found->crc == 0 || found->crc == crc32(bytes.first(payload_size)));
}

void search_descriptor(ByteReader& from, const LocalHeader& header) {
  const std::uint64_t start = from.offset();
  const std::size_t tail = descriptor_size(header.is_zip64);
  std::vector<std::byte> seen;
  while (seen.size() < kMaxSearch + tail) {
    seen.push_back(from.next());
    if (seen.size() >= tail && ends_with_descriptor(header, seen)) return;
  }
  fail(start, cat("no descriptor within 1 MiB behind zip record ", quote(header.name)));
}

}  // namespace

std::optional<LocalHeader> ForwardReader::next() {
  if (done_) return std::nullopt;
  const std::uint64_t at = bytes_.offset();
  LocalBytes fixed;
  fixed.signature = load_le<std::uint32_t>(bytes_.take(sizeof fixed.signature));
  done_ = fixed.signature == kCentralSignature;
  if (done_) return std::nullopt;
  if (fixed.signature != kLocalSignature)
    fail(at, "neither a local header nor the zip directory where one is expected");
  bytes_.read(std::as_writable_bytes(std::span(&fixed, 1)).subspan(sizeof fixed.signature));
  LocalHeader header;
  header.name.resize(fixed.name_length);
  bytes_.read(std::as_writable_bytes(std::span(header.name)));
  std::vector<std::byte> extra(fixed.extra_length);
  bytes_.read(extra);
  require_plain(fixed.flags, fixed.method, header.name, at);
  header.has_descriptor = (fixed.flags & kFlagDescriptor) != 0;
  header.crc = fixed.crc;
  resolve_sizes(fixed, extra, at, header);
  return header;
}

Descriptor ForwardReader::read_descriptor(const LocalHeader& header, std::uint64_t payload_size) {
  const std::uint64_t at = bytes_.offset();
  const auto found = parse_descriptor(header.is_zip64, bytes_.take(descriptor_size(header.is_zip64)), payload_size);
  if (!found) {
    fail(at, cat("no descriptor of ", payload_size, " bytes behind zip record ", quote(header.name)));
  }
  return *found;
}

void ForwardReader::skip_payload(const LocalHeader& header) {
  if (header.has_descriptor && header.size == 0) return search_descriptor(bytes_, header);
  bytes_.skip(header.size);
  if (header.has_descriptor) read_descriptor(header, header.size);
}

}  // namespace fsdpckpt::zip
