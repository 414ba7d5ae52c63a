#include "zip/descriptor.h"

#include "base/bytes.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

template <class T>
std::optional<Descriptor> parse_as(const std::byte* bytes, std::uint64_t payload_size) {
  const auto raw = load_le<T>(bytes);
  if (raw.signature != kDescriptorSignature || raw.size != payload_size || raw.stored_size != payload_size) return {};
  return Descriptor{raw.crc, raw.size};
}

}  // namespace

std::size_t descriptor_size(bool is_zip64) { return is_zip64 ? sizeof(Descriptor64Bytes) : sizeof(Descriptor32Bytes); }

std::optional<Descriptor> parse_descriptor(bool is_zip64, const std::byte* bytes, std::uint64_t payload_size) {
  return is_zip64 ? parse_as<Descriptor64Bytes>(bytes, payload_size) : parse_as<Descriptor32Bytes>(bytes, payload_size);
}

}  // namespace fsdpckpt::zip
