#include "dist/control.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "base/exit_code.h"
#include "base/text.h"
#include "dist/descriptor_pair.h"
#include "dist/duration_text.h"
#include "dist/temporary_file.h"

namespace fsdpckpt {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// What the thread of watch_launcher() shares with the others. A process has one launcher, and Control may be copied.
struct Shared {
  std::mutex sending;  ///< lines of several threads do not mix
  std::mutex naming;
  std::vector<std::string> temporaries;
};

/// Never destroyed: the thread may outlive main().
Shared& shared() {
  static Shared& kept = *new Shared;
  return kept;
}

[[noreturn]] void throw_launcher_gone() { throw Error(ErrorKind::ranks, "the launcher is gone"); }

/// Waits until there is something to read, or the end. False when `deadline` comes first.
bool wait_for_input(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
    pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long>(left, 0, 60'000)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (left <= 0) return false;
  }
}

/// The line up to the newline, or what there is of it at `deadline`.
std::string read_line(int descriptor, Clock::time_point deadline) {
  std::string line;
  while (!line.ends_with('\n') && wait_for_input(descriptor, deadline)) {
    char character = 0;  // one at a time: what follows the line is not ours to take
    if (uninterrupted([&] { return ::recv(descriptor, &character, 1, 0); }) <= 0) throw_launcher_gone();
    line.push_back(character);
  }
  return line;
}

std::uint16_t port_in(std::string_view line) {
  constexpr std::string_view kWord = "port ";
  std::uint16_t port = 0;
  const char* end = line.data() + line.size() - 1;  // the newline
  if (line.starts_with(kWord)) {
    const auto [stop, error] = std::from_chars(line.data() + kWord.size(), end, port);
    if (error == std::errc() && stop == end && port != 0) return port;
  }
  throw Error(ErrorKind::ranks, cat("the launcher sent ", quote(line), " instead of rank 0's port"));
}

[[noreturn]] void end_process() {
  // Kept locked to the end: a thread that names another file now does not come to write it.
  const std::scoped_lock lock(shared().naming);
  for (const std::string& path : shared().temporaries) remove_temporary(path);
  ::_exit(exit_code(ErrorKind::ranks));
}

void wait_for_end(int descriptor) {
  std::array<char, 256> ignored{};
  while (uninterrupted([&] { return ::recv(descriptor, ignored.data(), ignored.size(), 0); }) > 0) continue;
}

}  // namespace

/// A line is all text up to a newline, so that one within `text` (of a path, say) travels as NUL, which no path has.
void Control::send(std::string_view word, std::string_view text) const {
  if (!is_open()) return;
  std::string line = cat(word, ' ', text);
  std::ranges::replace(line, '\n', '\0');
  line.push_back('\n');
  const std::scoped_lock lock(shared().sending);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t sent = uninterrupted([&] { return ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL); });
    if (sent < 0) return;  // the launcher is gone: whoever watches or receives notices
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Control::send_port(std::uint16_t port) const { send("port", cat(port)); }

void Control::send_stage(std::string_view stage) const { send("stage", stage); }

void Control::send_answer_is_no() const { send("answer", "no"); }

void Control::send_failure(const Error& error) const { send("failed", pack_error(error)); }

void Control::send_temporary(const std::string& path) const {
  if (!is_open()) return;
  {
    const std::scoped_lock lock(shared().naming);
    shared().temporaries.push_back(path);
  }
  send("temporary", path);
}

std::uint16_t Control::receive_port(Milliseconds timeout) const {
  if (!is_open()) return 0;
  const std::string line = read_line(descriptor_, Clock::now() + timeout);
  if (line.ends_with('\n')) return port_in(line);
  throw Error(ErrorKind::ranks, cat("rank 0 told no port within ", duration_text(timeout)));
}

void Control::watch_launcher() const {
  if (!is_open()) return;
  // The thread ends the process, once it runs. Until now SIGKILL did, which leaves files.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  std::thread([descriptor = descriptor_] {
    wait_for_end(descriptor);
    end_process();
  }).detach();
}

}  // namespace fsdpckpt
