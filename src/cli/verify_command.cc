#include <string_view>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "dist/fault_point.h"
#include "dist/world_files.h"
#include "exec/round_trip.h"
#include "formats/open_shared.h"
#include "report/progress.h"
#include "report/round_trip_report.h"

namespace fsdpckpt {

int run_verify(const GlobalOptions& global, const VerifyCommand& command, Communicator& world,
               const WorldEvents& events) {
  const bool is_first = world.rank() == 0;
  WorldFiles shared(world);
  events.stage("plan");
  Checkpoint checkpoint = open_shared(command.source, command.files_in, shared);
  events.stage("data");
  RoundTripReport report;
  {
    Progress progress(is_first && wants_progress(global));
    report =
        fsdp_round_trip(checkpoint, world,
                        {.world_size = command.world_size,
                         .stop = &install_signal_handlers(),
                         .flipped_rank = flipped_rank(),
                         .progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); }});
  }
  const bool is_good = report.mismatches.empty();
  if (is_first && global.json)
    print_json(round_trip_json(report, command.source, command.world_size));
  else if (is_first && (!global.quiet || !is_good))
    print_answer(round_trip_text(report, command.source, command.world_size));
  return is_good ? kExitDone : kExitAnswerIsNo;
}

}  // namespace fsdpckpt
