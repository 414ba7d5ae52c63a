// The data descriptor: what follows the payload of a record whose local header has flag bit 3 (APPNOTE 4.3.9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace fsdpckpt::zip {

struct Descriptor {
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
};

/// Bytes that a descriptor takes. `is_zip64`: the record has a zip64 extra.
std::size_t descriptor_size(bool is_zip64);

/// Nothing unless the descriptor_size() bytes are the descriptor of a payload of that size. Its signature is optional
/// for APPNOTE 4.3.9.3, but torch, Python's zipfile and Info-ZIP write it.
std::optional<Descriptor> parse_descriptor(bool is_zip64, const std::byte* bytes, std::uint64_t payload_size);

}  // namespace fsdpckpt::zip
