#include "report/json_text.h"

#include "base/text.h"
#include "base/utf8.h"

namespace fsdpckpt {

std::string json_text(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    const std::string_view part = text.substr(at, character.length);
    result += character.valid ? std::string(part) : escape(part);
    at += character.length;
  }
  return result;
}

}  // namespace fsdpckpt
