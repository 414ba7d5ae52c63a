#include "dist/line_buffer.h"

#include <algorithm>

namespace fsdpckpt {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;  ///< what has no newline by then is no line of ours
constexpr std::size_t kTailBytes = 2048;
constexpr std::size_t kTailLines = 5;

/// Cuts `text` to its last `most` bytes.
void keep_last(std::string& text, std::size_t most) {
  if (text.size() > most) text.erase(0, text.size() - most);
}

}  // namespace

std::vector<std::string> LineBuffer::add(std::string_view piece) {
  std::vector<std::string> lines;
  for (std::size_t end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
    lines.push_back(rest_.append(piece.substr(0, end)));
    rest_.clear();
    piece.remove_prefix(end + 1);
  }
  rest_.append(piece);
  if (rest_.size() > kLongestLine) rest_.clear();
  return lines;
}

void TextTail::add(std::string_view piece) {
  text_.append(piece);
  keep_last(text_, kTailBytes);
}

std::vector<std::string> TextTail::lines() const {
  LineBuffer buffer;
  std::vector<std::string> lines = buffer.add(text_ + "\n");
  std::erase(lines, "");
  if (lines.size() > kTailLines) lines.erase(lines.begin(), lines.end() - kTailLines);
  return lines;
}

}  // namespace fsdpckpt
