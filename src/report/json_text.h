// Text for JSON documents: names from files may be no valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace fsdpckpt {

/// `text` itself when it is valid UTF-8, otherwise with each invalid byte as "\xNN".
std::string json_text(std::string_view text);

}  // namespace fsdpckpt
