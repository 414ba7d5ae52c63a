// The JSON document of `fsdpckpt --json inspect`, schema fsdpckpt.inspect/1.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "report/inspect_text.h"

namespace fsdpckpt {

/// Gives the document to `write` piece by piece, since it may be larger than the index: one line. With `error`, `ok` is
/// false. Chunks and values of objects are left out where `show` does.
void write_inspect_json(const Inspected& inspected, const InspectShow& show, const std::optional<Error>& error,
                        const std::function<void(std::string_view)>& write);

}  // namespace fsdpckpt
