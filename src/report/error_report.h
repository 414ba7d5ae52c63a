// An error for people (stderr) and for programs (the "error" member of a JSON document).
#pragma once

#include <fsdpckpt/error.h>

#include <nlohmann/json.hpp>
#include <string>

namespace fsdpckpt {

/// "fsdpckpt: error: WHAT", then indented "in:" and "try:" where known.
std::string error_text(const Error& error);

/// {kind, exit_code, message, path, offset, entry, hint}: members that are not known are absent.
nlohmann::ordered_json error_json(const Error& error);

}  // namespace fsdpckpt
