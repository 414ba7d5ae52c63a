#include "dist/child_process.h"

#include <fcntl.h>
#include <fsdpckpt/error.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "base/text.h"
#include "dist/descriptor_pair.h"

namespace fsdpckpt {
namespace {

constexpr int kUnknownExitCode = 255;

[[noreturn]] void throw_not_started(const std::string& program, int number) {
  throw Error(ErrorKind::io, cat("cannot start ", quote(program), ": ", std::system_category().message(number)));
}

/// For execve(), valid as long as `texts`.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// All that the child needs, made before fork(): after it only async-signal-safe functions may be called.
struct Start {
  explicit Start(const ChildSetup& setup)
      : program(setup.program.c_str()), kept(setup.kept), error(setup.error_output) {
    words.push_back(setup.program);
    words.insert(words.end(), setup.arguments.begin(), setup.arguments.end());
    arguments = pointers(words);
    environment = pointers(setup.environment);
  }

  const char* program;
  int kept, error;
  std::vector<std::string> words;
  std::vector<char*> arguments, environment;
  pid_t parent = ::getpid();
  Descriptor null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  DescriptorPair outcome;  ///< of exec: its errno, or the end when it succeeded
};

void detach_from_terminal() {
  ::setpgid(0, 0);
  std::signal(SIGTTOU, SIG_IGN);  // "stty tostop" would stop a group in the background that writes to the terminal
}

/// What is left open by mistake has CLOEXEC.
void arrange_descriptors(const Start& start) {
  if (start.null.is_open()) ::dup2(start.null.number(), STDIN_FILENO);
  if (start.error >= 0) ::dup2(start.error, STDERR_FILENO);
  if (start.kept >= 0) ::fcntl(start.kept, F_SETFD, 0);
}

/// The child's way from fork() to exec().
[[noreturn]] void become_program(const Start& start) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(kUnknownExitCode);  // it died before prctl() and no signal will come
  detach_from_terminal();
  arrange_descriptors(start);
  ::execve(start.program, start.arguments.data(), start.environment.data());
  const int number = errno;
  static_cast<void>(::write(start.outcome.second.number(), &number, sizeof number) == 0);
  ::_exit(kUnknownExitCode);
}

/// Waits until exec() has succeeded, 0, or failed: its errno.
int exec_errno(Start& start) {
  start.outcome.second = Descriptor();
  int number = 0;
  const auto got = uninterrupted([&] { return ::read(start.outcome.first.number(), &number, sizeof number); });
  return got == sizeof number ? number : 0;
}

/// Waits for the end of a child, which has to come.
void reap(pid_t pid) {
  uninterrupted([&] { return ::waitpid(pid, nullptr, 0); });
}

void kill_group(pid_t pid) {
  // A child that was killed before it made its group has none.
  if (::kill(-pid, SIGKILL) != 0) ::kill(pid, SIGKILL);
}

}  // namespace

ChildProcess::ChildProcess(const ChildSetup& setup) {
  Start start(setup);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_not_started(setup.program, errno);
  start.outcome = {Descriptor(ends[0]), Descriptor(ends[1])};
  pid_ = ::fork();
  if (pid_ == 0) become_program(start);
  if (pid_ < 0) throw_not_started(setup.program, errno);
  if (const int number = exec_errno(start); number != 0) {
    reap(pid_);
    throw_not_started(setup.program, number);
  }
}

void ChildProcess::kill() noexcept {
  if (state_.ended) return;
  state_.ended = true;
  kill_group(pid_);
  reap(pid_);
}

void ChildProcess::signal(int number) const {
  if (!state_.ended) ::kill(-pid_, number);
}

void ChildProcess::look() {
  if (state_.ended) return;
  siginfo_t info{};
  const auto end = [&] { return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT); };
  if (uninterrupted(end) != 0) {  // somebody else has reaped it
    state_.ended = true;
    state_.exit_code = kUnknownExitCode;
  } else if (info.si_pid != 0) {
    note_end(info);
  } else {
    look_for_stop();
  }
}

void ChildProcess::note_end(const siginfo_t& info) {
  state_.ended = true;
  (info.si_code == CLD_EXITED ? state_.exit_code : state_.end_signal) = info.si_status;
  kill_group(pid_);  // before it is reaped, when the number can become another's
  reap(pid_);
}

void ChildProcess::look_for_stop() {
  siginfo_t info{};
  const auto call = [&] { return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WCONTINUED | WNOHANG); };
  if (uninterrupted(call) != 0 || info.si_pid == 0) return;
  state_.stop_signal = info.si_code == CLD_CONTINUED ? 0 : info.si_status;
}

}  // namespace fsdpckpt
