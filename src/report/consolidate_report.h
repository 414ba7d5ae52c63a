// The answer of `fsdpckpt consolidate`, as a line and as a JSON document (schema fsdpckpt.consolidate/1).
#pragma once

#include <fsdpckpt/convert.h>

#include <nlohmann/json.hpp>
#include <string>

namespace fsdpckpt {

/// "full.pt: 6 tensors, 3 objects, 6.6 GiB in 2.9 s (2.3 GiB/s)"; with `dry_run` "would write ...".
std::string consolidate_text(const ConsolidateReport& report, bool dry_run);

nlohmann::ordered_json consolidate_json(const ConsolidateReport& report, bool dry_run);

}  // namespace fsdpckpt
