// A rank as its launcher sees it: the process, and what it has said over its control channel.
#pragma once

#include <fsdpckpt/error.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/child_process.h"
#include "dist/descriptor_pair.h"
#include "dist/launcher.h"
#include "dist/line_buffer.h"

namespace fsdpckpt {

/// What is known about a rank; blame.h judges by it. Looks are counted: what happened in one is not told apart.
struct RankRecord {
  int rank = 0;
  pid_t pid = -1;
  ChildState state;
  int end_look = 0;  ///< the look that saw its end
  std::optional<std::chrono::steady_clock::time_point> stopped_since;
  int stayed_away = 0;  ///< the signal that stopped it for longer than the timeout
  bool sent_no_port = false;
  bool told_to_end = false;  ///< by the launcher: what follows is no failure of the rank's own
  std::string port;          ///< as it was sent; empty: not yet
  std::string stage;
  bool answers_no = false;
  std::optional<Error> failure;
  int failure_look = 0;
  std::vector<std::string> temporaries;

  [[nodiscard]] bool is_running() const { return !state.ended && state.stop_signal == 0; }
  [[nodiscard]] bool has_failed() const { return failure || stayed_away != 0 || sent_no_port || ended_badly(); }
  [[nodiscard]] bool ended_badly() const { return state.end_signal != 0 || state.exit_code != 0; }
};

class RankProcess {
 public:
  /// Starts it. `run` is FSDPCKPT_RUN. Throws Error(io).
  RankProcess(const LaunchOptions& options, int rank, const std::string& run);

  [[nodiscard]] const RankRecord& record() const { return record_; }
  [[nodiscard]] RankRecord& record() { return record_; }
  /// The ends of its channels, to wait at; negative: closed.
  [[nodiscard]] std::array<int, 2> inputs() const { return {control_.number(), errors_.number()}; }
  /// The last lines of its standard error. Rank 0's is this process's, so that its progress is seen: none.
  [[nodiscard]] std::vector<std::string> last_lines() const { return tail_.lines(); }

  /// Takes note of all that has happened; never waits.
  void look(int number);
  void send_port(const std::string& port) const;
  /// Tells it, and what it may have started, to end.
  void end(int signal);
  /// Ends it at once, and waits for its end.
  void kill() noexcept { child_.kill(); }

 private:
  struct Channels;
  RankProcess(const LaunchOptions& options, int rank, const std::string& run, Channels channels);
  void look_at_process(int number);
  void read_control(int number);
  void take_line(std::string_view line, int number);

  RankRecord record_;
  LineBuffer lines_;
  TextTail tail_;
  Descriptor control_, errors_;
  ChildProcess child_;
};

}  // namespace fsdpckpt
