#include "dist/rank_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "dist/control.h"

namespace fsdpckpt {
namespace {

constexpr std::array<std::string_view, 5> kVariables = {
    "FSDPCKPT_RANK=", "FSDPCKPT_WORLD_SIZE=", "FSDPCKPT_LOCAL_RANK=", "FSDPCKPT_RUN=", "FSDPCKPT_CONTROL="};

[[noreturn]] void throw_no_channel(int rank) {
  const std::string reason = std::system_category().message(errno);
  throw Error(ErrorKind::io, cat("cannot make the channels of rank ", rank, ": ", reason));
}

bool is_replaced(std::string_view variable) {
  return std::ranges::any_of(kVariables, [&](std::string_view name) { return variable.starts_with(name); });
}

/// This process's, with `values` for kVariables.
std::vector<std::string> environment_with(const std::array<std::string, kVariables.size()>& values) {
  std::vector<std::string> result;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    if (!is_replaced(*variable)) result.emplace_back(*variable);
  }
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(cat(kVariables[i], values[i]));
  return result;
}

DescriptorPair socket_pair(int rank) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_no_channel(rank);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

DescriptorPair error_pipe(int rank) {
  if (rank == 0) return {Descriptor(), Descriptor()};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_no_channel(rank);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Gives what has arrived to `take`, and closes the handle at its end. The limit lets no rank that never stops to talk
/// keep the launcher from the others; it is more than a socket or a pipe holds.
template <class Read, class Take>
void read_all(Descriptor& handle, const Read& read, const Take& take) {
  constexpr int kMostPieces = 256;
  std::array<char, 4096> piece;
  for (int i = 0; i < kMostPieces && handle.is_open(); ++i) {
    const ssize_t got = uninterrupted([&] { return read(handle.number(), piece.data(), piece.size()); });
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return void(handle = Descriptor());
    take(std::string_view(piece.data(), static_cast<std::size_t>(got)));
  }
}

}  // namespace

struct RankProcess::Channels {
  explicit Channels(int rank) : control(socket_pair(rank)), errors(error_pipe(rank)) {}
  DescriptorPair control, errors;  ///< first: the launcher's end
};

RankProcess::RankProcess(const LaunchOptions& options, int rank, const std::string& run)
    : RankProcess(options, rank, run, Channels(rank)) {}

// The rank's ends are closed when this returns, so that its death is the end of what arrives.
RankProcess::RankProcess(const LaunchOptions& options, int rank, const std::string& run, Channels channels)
    : control_(std::move(channels.control.first)),
      errors_(std::move(channels.errors.first)),
      child_({.program = options.program,
              .arguments = options.arguments,
              .environment = environment_with(
                  {cat(rank), cat(options.ranks), cat(rank), run, cat(channels.control.second.number())}),
              .kept = channels.control.second.number(),
              .error_output = channels.errors.second.number()}) {
  record_.rank = rank;
  record_.pid = child_.pid();
}

void RankProcess::look(int number) {
  look_at_process(number);
  // After the process: what one that has ended wrote has arrived by now.
  read_control(number);
  read_all(errors_, ::read, [&](std::string_view piece) { tail_.add(piece); });
}

void RankProcess::look_at_process(int number) {
  if (record_.state.ended) return;
  child_.look();
  record_.state = child_.state();
  if (record_.state.ended) record_.end_look = number;
  if (record_.state.stop_signal == 0) {
    record_.stopped_since.reset();
  } else if (!record_.stopped_since) {
    record_.stopped_since = std::chrono::steady_clock::now();
  }
}

void RankProcess::read_control(int number) {
  const auto receive = [](int from, char* to, std::size_t size) { return ::recv(from, to, size, MSG_DONTWAIT); };
  read_all(control_, receive, [&](std::string_view piece) {
    for (std::string& line : lines_.add(piece)) {
      std::ranges::replace(line, '\0', '\n');  // see Control::send()
      take_line(line, number);
    }
  });
}

void RankProcess::take_line(std::string_view line, int number) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  const std::string_view text = line.substr(std::min(space + 1, line.size()));
  if (word == "port") record_.port = text;
  if (word == "stage") record_.stage = text;
  if (word == "answer") record_.answers_no = text == "no";
  if (word == "temporary") record_.temporaries.emplace_back(text);
  if (word == "failed" && !record_.failure && !record_.told_to_end) {
    record_.failure = unpack_error(text);
    record_.failure_look = number;
  }
}

void RankProcess::send_port(const std::string& port) const {
  if (!control_.is_open()) return;
  const std::string line = cat("port ", port, '\n');
  // The first that is sent to it: there is room. A rank that is gone is noticed elsewhere.
  static_cast<void>(::send(control_.number(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

void RankProcess::end(int signal) {
  record_.told_to_end = record_.told_to_end || !record_.state.ended;
  child_.signal(signal);
}

}  // namespace fsdpckpt
