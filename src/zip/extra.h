// Extra fields of a zip header (id, length, payload; APPNOTE 4.5), and the checks that local and central headers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace fsdpckpt::zip {

/// The bytes of an extra field's id and length.
inline constexpr std::size_t kExtraHead = 4;

/// Error(input) with the archive offset `at` of the header concerned.
[[noreturn]] void fail(std::uint64_t at, std::string what);

/// The payload of the extra field `id`, or nothing. Throws Error(input) when a field leaves `extra` or `id` occurs
/// twice.
std::optional<Bytes> find_extra(Bytes extra, std::uint16_t id, std::uint64_t at);

/// The payload of the zip64 extra field, which holds the 64-bit values of the saturated fields of its header in
/// the order size, stored size, offset (APPNOTE 4.5.3), read one by one.
class Zip64Values {
 public:
  Zip64Values(Bytes extra, std::string_view record, std::uint64_t at);
  /// `field`, or the next value of the zip64 extra when the field is saturated. Error(input) when there is none.
  std::uint64_t resolve(std::uint32_t field);

 private:
  std::optional<Bytes> left_;
  std::string_view record_;
  std::uint64_t at_;
};

/// Throws Error(input) unless the record is stored, not encrypted, and has no flags but "descriptor" and "UTF-8".
void require_plain(std::uint16_t flags, std::uint16_t method, std::string_view record, std::uint64_t at);

}  // namespace fsdpckpt::zip
