// Rank programs for tests of the launcher: shell scripts that say on the control channel what a rank would.
#pragma once

#include <fsdpckpt/error.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error_of.h"
#include "base/text.h"
#include "dist/launcher.h"
#include "io/temp_dir.h"

namespace fsdpckpt {

/// A folder with one rank program, which bash runs in it. In it `say WORDS` sends a line, `hear` prints one that came,
/// `rank` is the number, and each rank leaves its process id in the file `pids`.
class FakeRanks {
 public:
  FakeRanks(int ranks, std::string_view body) {
    const std::string script = cat("#!/bin/bash\ncd ", folder.path(), kPrelude, body, "\n");
    folder.write("rank", script);
    ::chmod(folder.path("rank").c_str(), 0755);
    options.program = folder.path("rank");
    options.ranks = ranks;
    options.timeout = std::chrono::milliseconds(10'000);
  }

  void launch() const { launch_ranks(options); }
  /// The error of a run that fails; no process may be left of it.
  [[nodiscard]] Error failure() const {
    Error error = error_of([&] { launch(); });
    EXPECT_EQ(living(), 0);
    return error;
  }
  /// The process ids in a file of the folder.
  [[nodiscard]] std::vector<pid_t> pids(std::string_view name = "pids") const {
    std::istringstream text(folder.read(name));
    std::vector<pid_t> result;
    for (pid_t pid = 0; text >> pid;) result.push_back(pid);
    return result;
  }
  [[nodiscard]] int living() const {
    int count = 0;
    for (const pid_t pid : pids()) count += ::kill(pid, 0) == 0 ? 1 : 0;
    return count;
  }
  /// Waits until all processes in the file are dead, which as orphans may stay unreaped. False when they live on.
  [[nodiscard]] bool die(std::string_view name) const {
    return wait_until([&] { return std::ranges::all_of(pids(name), is_dead); });
  }
  /// Waits until `test` holds. False when it did not within 20 s.
  template <class Test>
  static bool wait_until(const Test& test) {
    for (int i = 0; i < 2000 && !test(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return test();
  }

  TempDir folder;
  LaunchOptions options;

 private:
  static bool is_dead(pid_t pid) {
    std::ifstream file(cat("/proc/", pid, "/stat"));
    std::string number, name, state = "X";
    file >> number >> name >> state;
    return state == "Z" || state == "X";
  }

  // Appends of one line do not mix. "exec sleep" leaves no process of its own behind.
  static constexpr std::string_view kPrelude = R"(
rank=$FSDPCKPT_RANK
say() { printf '%s\n' "$*" >&$FSDPCKPT_CONTROL; }
hear() { read -r line <&$FSDPCKPT_CONTROL; printf '%s\n' "$line"; }
echo $$ >> pids
)";
};

/// How long `call` takes.
template <class Call>
std::chrono::milliseconds time_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

}  // namespace fsdpckpt
