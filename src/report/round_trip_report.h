// What verify --world-size says, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "exec/round_trip.h"

namespace fsdpckpt {

std::string round_trip_text(const RoundTripReport& report, const std::string& source, int world_size);

/// The document fsdpckpt.verify/1.
nlohmann::ordered_json round_trip_json(const RoundTripReport& report, const std::string& source, int world_size);

}  // namespace fsdpckpt
