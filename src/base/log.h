// What -v and FSDPCKPT_LOG show: one line of what is done, for the people who look. Silent unless the program has set
// up the logger "fsdpckpt"; a program that links the library decides for itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fsdpckpt {

/// True when somebody listens, for lines that cost something to make.
bool is_logging();

/// One line at level info.
void log_info(const std::string& line);

/// The time since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] std::int64_t milliseconds() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fsdpckpt
