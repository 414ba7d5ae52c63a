#include "formats/rank_names.h"

#include <algorithm>
#include <charconv>

namespace fsdpckpt {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// Takes the digits off the front of `text`; false when there are none.
bool take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of(kDigits), text.size());
  text.remove_prefix(end);
  return end > 0;
}

}  // namespace

std::optional<std::uint64_t> rank_in(std::string_view name) {
  const std::size_t word = name.rfind("rank");
  if (word == std::string_view::npos) return std::nullopt;
  name.remove_prefix(word + 4);
  if (name.starts_with('_') || name.starts_with('-')) name.remove_prefix(1);
  std::uint64_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc()) return std::nullopt;
  return rank;
}

bool is_rank_file(std::string_view name) {
  if (!name.starts_with("__") || !name.ends_with(".distcp")) return false;
  name.remove_prefix(2);
  name.remove_suffix(7);
  if (!take_digits(name) || !name.starts_with('_')) return false;
  name.remove_prefix(1);
  return take_digits(name) && name.empty();
}

}  // namespace fsdpckpt
