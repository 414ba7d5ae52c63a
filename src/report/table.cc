#include "report/table.h"

#include <algorithm>

namespace fsdpckpt {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(aligns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::size_t blanks = 2;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t padding = widths[i] - width_of(row[i]);
      if (aligns_[i] == Align::right) blanks += padding;
      if (!row[i].empty()) {
        text.append(blanks, ' ');
        text += row[i];
        blanks = 0;
      }
      blanks += 2 + (aligns_[i] == Align::left ? padding : 0);
    }
    text += '\n';
  }
  return text;
}

}  // namespace fsdpckpt
