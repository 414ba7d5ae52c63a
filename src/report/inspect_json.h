// The JSON document of `fsdpckpt --json inspect`, schema fsdpckpt.inspect/1.
#pragma once

#include <nlohmann/json.hpp>

#include "report/inspect_text.h"
#include "report/overview.h"

namespace fsdpckpt {

nlohmann::ordered_json inspect_json(const Checkpoint::Data& checkpoint, const Overview& overview,
                                    const InspectShow& show);

}  // namespace fsdpckpt
