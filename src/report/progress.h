// One line of progress on a terminal, at most ten times a second, erased at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fsdpckpt {

class Progress {
 public:
  /// Draws nothing unless `enabled`.
  explicit Progress(bool enabled);
  /// Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done, std::uint64_t total);

 private:
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

/// " 42 %  1.2 GiB of 2.8 GiB, 2.3 GiB/s, 1 s left"
std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds);

}  // namespace fsdpckpt
