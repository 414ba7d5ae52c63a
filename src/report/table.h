// Columns of text, aligned.
#pragma once

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
  /// The rows, indented by two spaces, columns two spaces apart; no trailing blanks. Widths count code points.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fsdpckpt
