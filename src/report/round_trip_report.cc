#include "report/round_trip_report.h"

#include "base/text.h"
#include "report/json_text.h"

namespace fsdpckpt {

std::string round_trip_text(const RoundTripReport& report, const std::string& source, int world_size) {
  std::string text;
  for (const std::string& name : report.mismatches)
    text += cat("mismatch: ", quote(name), " does not come back as it is stored\n");
  return cat(text, escape(source), ": ", plural(report.parameters, "parameter"), ", ", human_size(report.bytes),
             report.mismatches.empty() ? " came back bit for bit from" : " made", " the FSDP round trip at world size ",
             world_size, " (", plural(static_cast<std::uint64_t>(report.processes), "rank process", "es"), ")",
             report.mismatches.empty() ? "" : cat(", ", plural(report.mismatches.size(), "mismatch", "es")), "\n");
}

nlohmann::ordered_json round_trip_json(const RoundTripReport& report, const std::string& source, int world_size) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const std::string& name : report.mismatches) names.push_back(json_text(name));
  nlohmann::ordered_json json = {{"schema", "fsdpckpt.verify/1"}, {"ok", report.mismatches.empty()}};
  add_path(json, "path", source);
  json.update({{"world_size", world_size},
               {"processes", report.processes},
               {"backend", report.backend},
               {"parameters", report.parameters},
               {"bytes", report.bytes},
               {"gathered_bytes", report.gathered_bytes},
               {"mismatches", names},
               {"seconds", report.seconds}});
  return json;
}

}  // namespace fsdpckpt
