#include "cli/failure.h"

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "base/exit_code.h"
#include "dist/agreement.h"
#include "report/error_report.h"

namespace fsdpckpt {

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

int exit_code_of(const CommandLine& line, const std::function<int()>& run) {
  try {
    return run();
  } catch (...) {
    return fail(line, as_error(std::current_exception()));
  }
}

}  // namespace fsdpckpt
