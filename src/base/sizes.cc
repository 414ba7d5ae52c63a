#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace fsdpckpt {
namespace {

/// One decimal, whatever the locale.
std::string one_decimal(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 1).ptr;
  return std::string(digits.data(), end);
}

/// `value` divided by `base` until it is shown as less than `base`.
std::string scaled(std::uint64_t value, double base, std::span<const std::string_view> units) {
  double shown = static_cast<double>(value) / base;
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && shown >= base - 0.05; ++unit) shown /= base;
  return cat(one_decimal(shown), units[unit]);
}

std::optional<int> power_of_1024(std::string unit) {
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (unit.empty() || unit == "b") return 0;
  const std::size_t power = std::string_view("kmgtpe").find(unit[0]);
  const bool known = unit.size() == 1 || unit.substr(1) == "ib";
  return power != std::string_view::npos && known ? std::optional(static_cast<int>(power) + 1) : std::nullopt;
}

/// "512", "1.5" times `unit`, or nothing when malformed or too large.
std::optional<std::uint64_t> scaled_number(std::string_view number, std::uint64_t unit) {
  std::uint64_t whole = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, whole);
  if (error != std::errc{} || __builtin_mul_overflow(whole, unit, &whole)) return std::nullopt;
  if (stop == end) return whole;
  const std::string_view digits(stop + 1, static_cast<std::size_t>(end - stop - 1));
  if (*stop != '.' || unit == 1 || digits.empty() || digits.find('.') != std::string_view::npos) return std::nullopt;
  double fraction = 0;
  std::from_chars(stop, end, fraction);
  std::uint64_t result = 0;
  const auto part = static_cast<std::uint64_t>(fraction * static_cast<double>(unit));
  return __builtin_add_overflow(whole, part, &result) ? std::nullopt : std::optional(result);
}

}  // namespace

std::string human_size(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  return bytes < 1024 ? cat(bytes, " B") : scaled(bytes, 1024, kUnits);
}

std::string human_count(std::uint64_t count) {
  static constexpr std::string_view kUnits[] = {"K", "M", "B", "T"};
  return count < 1000 ? std::to_string(count) : scaled(count, 1000, kUnits);
}

std::uint64_t parse_size(std::string_view text, std::string_view what) {
  const std::size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::size_t unit_at = std::min(text.find_first_not_of(' ', number_end), text.size());
  if (const auto power = power_of_1024(std::string(text.substr(unit_at)))) {
    if (const auto size = scaled_number(text.substr(0, number_end), std::uint64_t{1} << 10 * *power)) return *size;
  }
  throw Error(ErrorKind::usage, cat(what, " is no size: ", quote(text)), {},
              "write a number of bytes or a number with K, M, G or T, e.g. 512M or 1.5 GiB");
}

}  // namespace fsdpckpt
