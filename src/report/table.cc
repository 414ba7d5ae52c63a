#include "report/table.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::size_t kGap = 2;

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

/// The place of character number `index`.
std::size_t place_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (starts_character(text[at]) && seen++ == index) break;
  }
  return at;
}

/// `text` in at most `width` characters; what is left of the room after the ellipsis goes to both ends, or to the
/// start alone.
std::string cut(const std::string& text, std::size_t width, bool in_the_middle) {
  const std::size_t length = width_of(text);
  if (length <= width) return text;
  const std::size_t tail = in_the_middle ? (width - 1) / 2 : 0, head = width - 1 - tail;
  const std::string_view view = text;
  return cat(view.substr(0, place_of(view, head)), "…", view.substr(place_of(view, length - tail)));
}

}  // namespace

std::vector<std::size_t> Table::widths(std::size_t width) const {
  std::vector<std::size_t> widths(aligns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::min(width_of(row[i]), kWidest));
  }
  std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * widths.size());
  while (width > 0 && total > width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool can_shrink = aligns_[i] == Align::left && widths[i] > kNarrowest;
      if (can_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

void Table::add_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, bool is_cut,
                    std::string& text) const {
  std::size_t blanks = kGap;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = is_cut ? cut(row[i], widths[i], i == 0) : row[i];
    const std::size_t padding = widths[i] - std::min(widths[i], width_of(cell));
    if (aligns_[i] == Align::right) blanks += padding;
    if (!cell.empty()) {
      text.append(blanks, ' ');
      text += cell;
      blanks = 0;
    }
    blanks += kGap + (aligns_[i] == Align::left ? padding : 0);
  }
  text += '\n';
}

std::string Table::text(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths(width);
  std::string text;
  for (const auto& row : rows_) add_row(row, widths, width > 0, text);
  return text;
}

}  // namespace fsdpckpt
