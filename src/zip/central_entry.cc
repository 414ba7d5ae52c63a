#include "zip/central_entry.h"

#include "base/text.h"
#include "zip/extra.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

CentralBytes load_fixed_part(Bytes left, std::uint64_t at) {
  if (left.size() < sizeof(CentralBytes)) fail(at, "the zip directory ends inside an entry");
  const auto fixed = load_le<CentralBytes>(left.data());
  if (fixed.signature != kCentralSignature) fail(at, "no zip directory entry where one is expected");
  return fixed;
}

/// Sizes and offset, from the zip64 extra where they are saturated.
void resolve_sizes(const CentralBytes& fixed, Bytes extra, std::uint64_t at, CentralEntry& entry) {
  Zip64Values wide(extra, entry.name, at);
  entry.size = wide.resolve(fixed.size);
  const std::uint64_t stored_size = wide.resolve(fixed.stored_size);
  entry.header = wide.resolve(fixed.header_offset);
  if (stored_size != entry.size) {
    fail(at, cat("zip record ", quote(entry.name), " is stored, but its two sizes differ: ", entry.size, " and ",
                 stored_size));
  }
}

}  // namespace

CentralEntry read_central_entry(Bytes directory, std::size_t at, std::uint64_t directory_offset) {
  const std::uint64_t where = directory_offset + at;
  const Bytes left = directory.subspan(at);
  const CentralBytes fixed = load_fixed_part(left, where);
  CentralEntry entry;
  entry.length = sizeof fixed + fixed.name_length + fixed.extra_length + fixed.comment_length;
  if (left.size() < entry.length) fail(where, "the zip directory ends inside an entry");
  entry.name = as_text(left.subspan(sizeof fixed, fixed.name_length));
  entry.crc = fixed.crc;
  entry.flags = fixed.flags;
  require_plain(fixed.flags, fixed.method, entry.name, where);
  if (fixed.disk != 0) fail(where, cat("zip record ", quote(entry.name), " is on another disk"));
  resolve_sizes(fixed, left.subspan(sizeof fixed + fixed.name_length, fixed.extra_length), where, entry);
  return entry;
}

}  // namespace fsdpckpt::zip
