// Text for JSON documents: names from files may be no valid UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fsdpckpt {

/// `text` itself when it is valid UTF-8, otherwise with each invalid byte as "\xNN".
std::string json_text(std::string_view text);

/// Sets `object[key]` to json_text(path), and `object[key + "_bytes"]` to the path itself in base64 (RFC 4648) when the
/// text is not the path.
void add_path(nlohmann::ordered_json& object, const std::string& key, std::string_view path);

}  // namespace fsdpckpt
