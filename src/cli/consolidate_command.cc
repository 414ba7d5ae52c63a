#include <fsdpckpt/open.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "dist/world_files.h"
#include "formats/open_shared.h"
#include "report/consolidate_report.h"
#include "report/progress.h"

namespace fsdpckpt {
namespace {

void print(const GlobalOptions& global, const ConsolidateReport& report, bool dry_run) {
  print_notes(global, report.notes);
  if (global.json)
    print_json(consolidate_json(report, dry_run));
  else if (!global.quiet)
    print_answer(consolidate_text(report, dry_run));
}

}  // namespace

int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command) {
  Checkpoint checkpoint = open_checkpoint(command.source, command.files_in);
  if (checkpoint.kind() != "sharded checkpoint") {
    throw Error(ErrorKind::input, cat("there is nothing to consolidate: it is a ", checkpoint.kind(), " already"),
                {.path = command.source}, cat("fsdpckpt inspect ", shell_word(command.source)));
  }
  const bool to_stdout = command.target == kStandardOutput;
  if (to_stdout && isatty(STDOUT_FILENO) != 0)
    throw Error(ErrorKind::usage, "stdout is a terminal: a torch file would be written to it", {}, "give DST a name");
  ConsolidateOptions options = command.options;
  options.stop = &install_signal_handlers();
  ConsolidateReport report;
  {
    Progress progress(wants_progress(global));
    options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
    report = to_stdout ? consolidate_to_stream(checkpoint, STDOUT_FILENO, options)
                       : consolidate(checkpoint, command.target, options);
  }
  if (to_stdout)
    print_notes(global, report.notes);
  else
    print(global, report, options.dry_run);
  return kExitDone;
}

int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command, Communicator& world,
                    const WorldEvents& events) {
  const bool is_first = world.rank() == 0;
  WorldFiles shared(world);
  events.stage("plan");
  Checkpoint checkpoint = open_shared(command.source, command.files_in, shared);
  ConsolidateOptions options = command.options;
  options.stop = &install_signal_handlers();
  ConsolidateReport report;
  {
    Progress progress(is_first && wants_progress(global));
    options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
    report = consolidate(checkpoint, command.target, options, world, events);
  }
  if (is_first) print(global, report, options.dry_run);
  return kExitDone;
}

}  // namespace fsdpckpt
