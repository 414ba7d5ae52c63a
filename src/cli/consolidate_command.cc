#include <fsdpckpt/open.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "report/consolidate_report.h"
#include "report/progress.h"

namespace fsdpckpt {

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
  print_notes(global, report.notes);
  if (to_stdout) return kExitDone;
  if (global.json)
    print_json(consolidate_json(report, options.dry_run));
  else if (!global.quiet)
    print_answer(consolidate_text(report, options.dry_run));
  return kExitDone;
}

}  // namespace fsdpckpt
