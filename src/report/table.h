// Columns of text, aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fsdpckpt {

class Table {
 public:
  enum class Align : std::uint8_t { left, right };

  Table(std::vector<std::string> headings, std::vector<Align> aligns) : aligns_(std::move(aligns)) {
    rows_.push_back(std::move(headings));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The rows, indented by two spaces, columns two spaces apart; no trailing blanks. Widths count code points. Where a
  /// line would be wider than `width` (0: any width), the widest columns that are aligned left are cut: the first
  /// one's cells in the middle, since names differ at their ends, the others' at the end. None gets narrower than
  /// kNarrowest. Without a width no cell is cut, but one wider than kWidest does not widen its column: a single name of
  /// a megabyte must not become a megabyte of blanks in every line.
  [[nodiscard]] std::string text(std::size_t width = 0) const;

  static constexpr std::size_t kNarrowest = 12, kWidest = 160;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t width) const;
  void add_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, bool is_cut,
               std::string& text) const;

  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fsdpckpt
