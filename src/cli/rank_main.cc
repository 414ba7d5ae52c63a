// fsdpckpt-rank: one rank of a world. The same command line as fsdpckpt's; the front program or a launcher starts it.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/exit_code.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/logging.h"
#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "dist/agreement.h"
#include "dist/control.h"
#include "dist/fault_point.h"
#include "dist/rank_environment.h"
#include "torch/c10d_world.h"

namespace {

using namespace fsdpckpt;

/// What a rank does in a stage, as messages say it: "while ...".
std::string_view doing(std::string_view stage) {
  if (stage == "rendezvous") return "meeting the others";
  if (stage == "plan") return "planning";
  if (stage == "data") return "moving data";
  return "committing the output";
}

/// What the launcher hears, and where tests make a rank fail.
WorldEvents events_of(const Control& control, int rank) {
  return {.stage =
              [&control, rank](std::string_view stage) {
                control.send_stage(doing(stage));
                fault_point(rank, stage);
              },
          .temporary = [&control](const std::string& path) { control.send_temporary(path); }};
}

int run(const CommandLine& line, const RankEnvironment& environment, const Control& control) {
  const RankOptions* ranks = rank_options(line);
  if (ranks == nullptr) throw Error(ErrorKind::usage, "this command has no ranks");
  const WorldEvents events = events_of(control, environment.rank);
  const Stopwatch watch;
  events.stage("rendezvous");
  const auto world = meet_world(environment, ranks->timeout);
  log_info(cat("rank ", world->rank(), " of ", world->size(), ": met after ", watch.milliseconds(), " ms, ",
               world->backend()));
  if (const auto* verify = std::get_if<VerifyCommand>(&line.run)) {
    const int code = run_verify(line.global, *verify, *world, events);
    if (code == kExitDone || !control.is_open()) return code;
    control.send_answer_is_no();  // an exit code of 1 would be a failure of this rank's
    return kExitDone;
  }
  return run_consolidate(line.global, std::get<ConsolidateCommand>(line.run), *world, events);
}

/// Launchers end all ranks as soon as one has failed: the first, which speaks for all, must not be ended before.
constexpr std::chrono::seconds kTimeToSpeak{2};

/// Most errors are found by all ranks alike, or told to all; then the first speaks for them.
bool is_common(const Error& error) {
  const bool is_ones_own = error.kind() == ErrorKind::ranks || error.kind() == ErrorKind::bug;
  return !is_ones_own && std::string_view(error.what()) != kOutOfMemory;
}

/// Our launcher prints what it chooses among the ranks' errors.
int tell(const CommandLine& line, const RankEnvironment& environment, const Control& control, const Error& error) {
  if (control.is_open()) {
    control.send_failure(error);
    return exit_code(error.kind());
  }
  if (environment.rank == 0 || !is_common(error)) return fail(line, error);
  std::this_thread::sleep_for(kTimeToSpeak);
  return exit_code(error.kind());
}

}  // namespace

int main(int argc, char** argv) {
  turn_signals_into_errors();
  CommandLine line;
  RankEnvironment environment;
  int code = exit_code_of(line, [&] {
    parse_command_line(argc, argv, line);
    start_logging(line.global);
    environment = read_rank_environment();
    return kExitDone;
  });
  if (code != kExitDone) return code;
  const Control control(environment.control);
  try {
    code = run(line, environment, control);
  } catch (...) {
    code = tell(line, environment, control, as_error(std::current_exception()));
  }
  std::fflush(nullptr);
  ::_exit(code);  // LibTorch's threads may still wait for ranks that are gone
}
