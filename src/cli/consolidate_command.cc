#include <fsdpckpt/open.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "report/consolidate_report.h"
#include "report/progress.h"

namespace fsdpckpt {

int run_consolidate(const GlobalOptions& global, const ConsolidateCommand& command) {
  Checkpoint checkpoint = open_checkpoint(command.source);
  if (checkpoint.kind() != "sharded checkpoint") {
    throw Error(ErrorKind::input, cat("there is nothing to consolidate: it is a ", checkpoint.kind(), " already"),
                {.path = command.source}, cat("fsdpckpt inspect ", shell_word(command.source)));
  }
  ConsolidateOptions options = command.options;
  options.stop = &install_signal_handlers();
  ConsolidateReport report;
  {
    Progress progress(wants_progress(global));
    options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
    report = consolidate(checkpoint, command.target, options);
  }
  print_notes(global, report.notes);
  if (global.json)
    print_json(consolidate_json(report, options.dry_run));
  else if (!global.quiet)
    print_answer(consolidate_text(report, options.dry_run));
  return kExitDone;
}

}  // namespace fsdpckpt
