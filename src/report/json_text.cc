#include "report/json_text.h"

#include <cstdint>

#include "base/text.h"
#include "base/utf8.h"

namespace fsdpckpt {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) result += i <= part.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return result;
}

}  // namespace

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

void add_path(nlohmann::ordered_json& object, const std::string& key, std::string_view path) {
  const std::string text = json_text(path);
  object[key] = text;
  if (text != path) object[key + "_bytes"] = base64(path);
}

}  // namespace fsdpckpt
