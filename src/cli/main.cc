// fsdpckpt: parse, run one command, map every failure to one message and one exit code.
#include "base/exit_code.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/logging.h"
#include "cli/output.h"
#include "cli/ranks.h"
#include "cli/signals.h"

namespace {

using namespace fsdpckpt;

int run(const CommandLine& line, int argc, char** argv) {
  if (const auto* print = std::get_if<PrintCommand>(&line.run)) {
    print_answer(print->text);
    return kExitDone;
  }
  if (const auto code = run_by_ranks(line, argc, argv)) return *code;
  if (const auto* command = std::get_if<ConsolidateCommand>(&line.run)) return run_consolidate(line.global, *command);
  return run_inspect(line.global, std::get<InspectCommand>(line.run));
}

}  // namespace

int main(int argc, char** argv) {
  turn_signals_into_errors();
  CommandLine line;
  return exit_code_of(line, [&] {
    parse_command_line(argc, argv, line);
    if (!std::holds_alternative<PrintCommand>(line.run)) start_logging(line.global);
    return run(line, argc, argv);
  });
}
