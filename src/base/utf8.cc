#include "base/utf8.h"

namespace fsdpckpt {
namespace {

std::size_t length_by_lead(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

bool well_formed(std::uint32_t code, std::size_t length) {
  if (length == 3) return code >= 0x800 && (code < 0xd800 || code > 0xdfff);
  if (length == 4) return code >= 0x10000 && code <= 0x10ffff;
  return true;
}

}  // namespace

Utf8Character utf8_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<std::uint8_t>(text[at]);
  const Utf8Character invalid{lead, 1, false};
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || length > text.size() - at) return invalid;
  if (length == 1) return {lead, 1, true};
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<std::uint8_t>(text[at + i]);
    if ((next & 0xc0) != 0x80) return invalid;
    code = code << 6 | (next & 0x3fU);
  }
  return well_formed(code, length) ? Utf8Character{code, length, true} : invalid;
}

}  // namespace fsdpckpt
