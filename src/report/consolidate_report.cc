#include "report/consolidate_report.h"

#include <array>
#include <cstdio>

#include "base/text.h"
#include "report/json_text.h"

namespace fsdpckpt {
namespace {

std::string decimals(double value, int digits) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

nlohmann::ordered_json world_json(const ConsolidateReport& report) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const RankShare& share : report.ranks) {
    ranks.push_back({{"host", json_text(share.host)},
                     {"pid", share.pid},
                     {"read_bytes", share.read},
                     {"sent_bytes", share.sent},
                     {"received_bytes", share.received},
                     {"written_bytes", share.written},
                     {"peak_anon_bytes", share.peak_anon_bytes}});
  }
  return {{"backend", report.backend},
          {"collective_bytes",
           {{"broadcast", report.moved_by_broadcast},
            {"all_gather", report.moved_by_all_gather},
            {"send_recv", report.moved_by_send}}},
          {"ranks", ranks}};
}

}  // namespace

std::string consolidate_text(const ConsolidateReport& report, bool dry_run) {
  const std::string target = escape(report.target);
  const std::string what = cat(plural(report.tensors, "tensor"), ", ", plural(report.objects, "object"), ", ",
                               human_size(report.file_bytes));
  if (dry_run) return cat("would write ", target, ": ", what, "\n");
  const double rate = report.seconds > 0 ? static_cast<double>(report.file_bytes) / report.seconds : 0;
  return cat(target, ": ", what, " in ", decimals(report.seconds, report.seconds < 10 ? 2 : 1), " s (",
             human_size(static_cast<std::uint64_t>(rate)), "/s)\n");
}

nlohmann::ordered_json consolidate_json(const ConsolidateReport& report, bool dry_run) {
  nlohmann::ordered_json json = {{"schema", "fsdpckpt.consolidate/1"}, {"ok", true}};
  add_path(json, "path", report.target);
  json.update({{"dry_run", dry_run},
               {"tensors", report.tensors},
               {"objects", report.objects},
               {"tensor_bytes", report.tensor_bytes},
               {"file_bytes", report.file_bytes},
               {"chunks", report.chunks},
               {"chunks_without_checksum", report.chunks_unchecked},
               {"replicas_compared", report.replicas_compared},
               {"seconds", report.seconds},
               {"notes", report.notes}});
  if (!report.ranks.empty()) json["world"] = world_json(report);
  return json;
}

}  // namespace fsdpckpt
