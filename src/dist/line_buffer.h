// Text that arrives in pieces: whole lines of it, or its last ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fsdpckpt {

class LineBuffer {
 public:
  /// Adds a piece and returns the lines that are whole now, without their newlines.
  std::vector<std::string> add(std::string_view piece);

 private:
  std::string rest_;
};

/// Remembers the end of a text.
class TextTail {
 public:
  void add(std::string_view piece);
  /// The last lines that are not empty: at most 5, of at most 2 KB together.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::string text_;
};

}  // namespace fsdpckpt
