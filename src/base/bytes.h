// Little-endian numbers in byte buffers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace fsdpckpt {

static_assert(std::endian::native == std::endian::little, "fsdpckpt runs on little-endian machines");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// The number at `from`, which need not be aligned.
template <class T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store_le(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

}  // namespace fsdpckpt
