#include "base/log.h"

#include <spdlog/spdlog.h>

namespace fsdpckpt {

bool is_logging() {
  const auto logger = spdlog::get("fsdpckpt");
  return logger && logger->should_log(spdlog::level::info);
}

void log_info(const std::string& line) {
  if (const auto logger = spdlog::get("fsdpckpt")) logger->info(line);
}

}  // namespace fsdpckpt
