// fsdpckpt: parse, run one command, map every failure to one message and one exit code.
#include <cstdio>
#include <exception>
#include <new>

#include "base/exit_code.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/logging.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "report/error_report.h"

namespace {

using namespace fsdpckpt;

int run(const CommandLine& line) {
  if (const auto* print = std::get_if<PrintCommand>(&line.run)) {
    print_answer(print->text);
    return kExitDone;
  }
  if (const auto* command = std::get_if<ConsolidateCommand>(&line.run)) return run_consolidate(line.global, *command);
  return run_inspect(line.global, std::get<InspectCommand>(line.run));
}

int fail(const CommandLine& line, const Error& error) {
  std::fputs(error_text(error).c_str(), stderr);
  if (line.global.json) {
    const std::string schema =
        "fsdpckpt." + (line.command.empty() || line.command == "help" ? std::string("error") : line.command) + "/1";
    std::fputs(
        (nlohmann::ordered_json{{"schema", schema}, {"ok", false}, {"error", error_json(error)}}.dump() + "\n").c_str(),
        stdout);
    std::fflush(stdout);
  }
  return exit_code(error.kind());
}

}  // namespace

int main(int argc, char** argv) {
  turn_signals_into_errors();
  CommandLine line;
  try {
    parse_command_line(argc, argv, line);
    if (!std::holds_alternative<PrintCommand>(line.run)) start_logging(line.global);
    return run(line);
  } catch (const Error& error) {
    return fail(line, error);
  } catch (const std::bad_alloc&) {
    return fail(line, Error(ErrorKind::io, "out of memory"));
  } catch (const std::exception& error) {
    return fail(line, Error(ErrorKind::bug, std::string("this is a bug in fsdpckpt: ") + error.what()));
  }
}
