#include "cli/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "base/text.h"

namespace fsdpckpt {

void start_logging(const GlobalOptions& options) {
  const char* wanted = std::getenv("FSDPCKPT_LOG");
  spdlog::level::level_enum level = options.verbose ? spdlog::level::info : spdlog::level::off;
  if (!options.verbose && wanted != nullptr && *wanted != '\0') {
    level = spdlog::level::from_str(wanted);
    if (level == spdlog::level::off && std::string_view(wanted) != "off") {
      throw Error(ErrorKind::usage,
                  cat("FSDPCKPT_LOG is ", quote(wanted), ": trace, debug, info, warn, error or off were expected"));
    }
  }
  auto logger = spdlog::stderr_logger_mt("fsdpckpt");
  logger->set_pattern("fsdpckpt: %l: %v");
  logger->set_level(level);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace fsdpckpt
