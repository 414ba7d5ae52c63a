#include "report/progress.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace fsdpckpt {

Progress::Progress(bool enabled) : enabled_(enabled), start_(std::chrono::steady_clock::now()), last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  std::fputs(cat("\r\x1b[K", progress_text(done, total, std::chrono::duration<double>(now - start_).count())).c_str(),
             stderr);
}

namespace {

/// Nothing while too little is done to tell.
std::string time_left(std::uint64_t done, std::uint64_t total, double seconds) {
  if (seconds <= 0 || done >= total || done < total / 100 || done == 0) return {};
  const double left = static_cast<double>(total - done) / static_cast<double>(done) * seconds;
  const auto rounded = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  return left < 120 ? cat(", ", rounded(left), " s left") : cat(", ", rounded(left / 60), " min left");
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::uint64_t percent = total == 0 ? 100 : done * 100 / total;
  const std::string text = cat(percent < 10    ? "  "
                               : percent < 100 ? " "
                                               : "",
                               percent, " %  ", human_size(done), " of ", human_size(total), ", ",
                               human_size(static_cast<std::uint64_t>(rate)), "/s");
  return text + time_left(done, total, seconds);
}

}  // namespace fsdpckpt
