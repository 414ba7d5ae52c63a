// One child of this process: started, looked at, signalled, and gone when this object is.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace fsdpckpt {

struct ChildSetup {
  std::string program;                   ///< path
  std::vector<std::string> arguments;    ///< without the program's name
  std::vector<std::string> environment;  ///< "NAME=value", all of them
  int kept = -1;                         ///< the descriptor that the program inherits besides 0, 1 and 2, above 2
  int error_output = -1;                 ///< a descriptor above 2 for its standard error; negative: this process's
};

struct ChildState {
  int stop_signal = 0;  ///< what stopped it, until it continues
  bool ended = false;
  int end_signal = 0;  ///< what killed it
  int exit_code = 0;
};

/// Its standard input is /dev/null, its standard output this process's. It leads a process group of its own, which
/// takes it out of the terminal's, and is killed when this process (the thread that made it) ends.
class ChildProcess {
 public:
  /// Returns when the program runs. Throws Error(io) "cannot start 'PROGRAM': No such file or directory".
  explicit ChildProcess(const ChildSetup& setup);
  ~ChildProcess() { kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// As look() saw it last.
  [[nodiscard]] const ChildState& state() const { return state_; }
  /// Takes note of what has happened to it. A child that has ended is reaped, and the rest of its group killed.
  void look();
  /// Sends the signal to its group; nothing after its end.
  void signal(int number) const;
  /// Kills its group with SIGKILL and waits for its end.
  void kill() noexcept;

 private:
  void note_end(const siginfo_t& info);
  void look_for_stop();

  pid_t pid_ = -1;
  ChildState state_;
};

}  // namespace fsdpckpt
