#include "dist/launcher.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <functional>
#include <random>

#include "base/exit_code.h"
#include "base/text.h"
#include "dist/blame.h"
#include "dist/rank_process.h"
#include "dist/temporary_file.h"

namespace fsdpckpt {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kTick{30};           ///< between two looks at the processes
constexpr Milliseconds kPortMargin{2'000};  ///< the ranks that wait for the port give up first, and say so
constexpr Milliseconds kGrace{3'000};       ///< for the others to end by themselves and report
constexpr Milliseconds kShortGrace{1'000};
constexpr Milliseconds kTermination{1'000};        ///< between SIGTERM and SIGKILL
constexpr Milliseconds kTerminationByUser{5'000};  ///< the same when the user ends the run: ranks clean up

/// A number that no other run has, now or soon after.
std::string run_name() {
  std::random_device random;
  return cat(::getpid(), '-', random(), '-', random());
}

/// Takes the numbers 0, 1 and 2 where they are free: a channel with one of them would be lost in the rank.
std::vector<Descriptor> taken_standard_numbers() {
  std::vector<Descriptor> taken;
  for (;;) {
    Descriptor next(::open("/dev/null", O_RDWR));
    if (!next.is_open() || next.number() > STDERR_FILENO) return taken;
    taken.push_back(std::move(next));
  }
}

/// Shows what a rank said before it died, as it would have on the terminal.
void show_last_lines(const RankProcess& rank) {
  std::string text;
  for (const std::string& line : rank.last_lines()) text += cat("rank ", rank.record().rank, ": ", escape(line), '\n');
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) == 0);  // nobody could be told of a failure
}

/// The ranks from their start to their end. They end with it, whatever happens.
class Run {
 public:
  explicit Run(const LaunchOptions& options) : options_(options) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void start();
  /// Returns when all have ended.
  void watch();
  /// Throws unless all went well.
  void judge();
  [[nodiscard]] bool answers_no() const { return ranks_.front().record().answers_no; }

 private:
  /// What is done to the ranks, in this order; `grace` is left out when the user ends the run.
  enum class Phase { running, grace, terminating, killing };

  void wait() const;
  void look();
  void pass_port_on();
  void judge_silence();
  void advance();
  void enter(Phase phase, Milliseconds length);
  void end_ranks(int signal);
  [[nodiscard]] int stop_signal() const { return options_.stop == nullptr ? 0 : options_.stop->load(); }
  [[nodiscard]] Milliseconds grace() const;
  template <class Test>
  [[nodiscard]] bool any(const Test& test) const {
    return std::ranges::any_of(ranks_, [&](const RankProcess& rank) { return std::invoke(test, rank.record()); });
  }

  const LaunchOptions& options_;
  std::deque<RankProcess> ranks_;
  Clock::time_point started_;
  int looks_ = 0;
  bool port_is_passed_on_ = false;
  Phase phase_ = Phase::running;
  Clock::time_point phase_end_;
  int stopped_by_ = 0;  ///< the user's signal
  bool all_is_well_ = false;
};

Run::~Run() {
  for (RankProcess& rank : ranks_) rank.end(SIGKILL);
  for (RankProcess& rank : ranks_) rank.kill();  // waits: none may write any more
  if (all_is_well_) return;
  for (const RankProcess& rank : ranks_) {
    for (const std::string& path : rank.record().temporaries) remove_temporary(path);
  }
}

void Run::start() {
  const std::vector<Descriptor> taken = taken_standard_numbers();
  const std::string name = run_name();
  for (int rank = 0; rank < options_.ranks; ++rank) ranks_.emplace_back(options_, rank, name);
  started_ = Clock::now();
}

void Run::watch() {
  while (any([](const RankRecord& rank) { return !rank.state.ended; })) {
    wait();
    look();
    pass_port_on();
    judge_silence();
    advance();
  }
}

/// Waits for a word of a rank, or the next look.
void Run::wait() const {
  std::vector<pollfd> inputs;
  for (const RankProcess& rank : ranks_) {
    for (const int input : rank.inputs()) inputs.push_back({.fd = input, .events = POLLIN, .revents = 0});
  }
  ::poll(inputs.data(), inputs.size(), kTick.count());  // a negative one is left out; EINTR is an early look
}

void Run::look() {
  ++looks_;
  for (RankProcess& rank : ranks_) rank.look(looks_);
}

void Run::pass_port_on() {
  const std::string& port = ranks_.front().record().port;
  if (port_is_passed_on_ || port.empty()) return;
  port_is_passed_on_ = true;
  for (std::size_t i = 1; i < ranks_.size(); ++i) ranks_[i].send_port(port);
}

/// Notes which ranks have been away for too long.
void Run::judge_silence() {
  if (phase_ >= Phase::terminating) return;
  const Clock::time_point now = Clock::now();
  for (RankProcess& rank : ranks_) {
    RankRecord& record = rank.record();
    if (record.stopped_since && now - *record.stopped_since >= options_.timeout)
      record.stayed_away = record.state.stop_signal;
  }
  RankRecord& first = ranks_.front().record();
  const bool is_late = now - started_ >= options_.timeout + kPortMargin;
  if (ranks_.size() > 1 && !port_is_passed_on_ && !first.state.ended && is_late) first.sent_no_port = true;
}

/// A stopped rank reacts to SIGKILL alone, so that there is nothing to wait for when only such are left.
void Run::advance() {
  const bool is_over = Clock::now() >= phase_end_ || !any(&RankRecord::is_running);
  if (phase_ < Phase::terminating && stop_signal() != 0) {
    stopped_by_ = stop_signal();
    end_ranks(SIGTERM);
    enter(Phase::terminating, kTerminationByUser);
  } else if (phase_ == Phase::running) {
    if (any(&RankRecord::has_failed)) enter(Phase::grace, grace());
  } else if (phase_ == Phase::grace && is_over) {
    end_ranks(SIGTERM);
    enter(Phase::terminating, kTermination);
  } else if (phase_ == Phase::terminating && is_over) {
    end_ranks(SIGKILL);
    enter(Phase::killing, kTick);
  }
}

void Run::enter(Phase phase, Milliseconds length) {
  phase_ = phase;
  phase_end_ = Clock::now() + length;
}

/// Short after a rank was killed, which has told the others nothing that they could tell, and where the margin of the
/// port has been one already.
Milliseconds Run::grace() const {
  const auto is_short = [](const RankRecord& rank) { return rank.state.end_signal != 0 || rank.sent_no_port; };
  return any(is_short) ? kShortGrace : kGrace;
}

void Run::end_ranks(int signal) {
  for (RankProcess& rank : ranks_) rank.end(signal);
}

void Run::judge() {
  all_is_well_ = !any([](const RankRecord& rank) { return rank.ended_badly() || rank.failure; });
  if (all_is_well_) return;  // also when a signal came too late
  if (stopped_by_ == SIGTERM) throw Error(ErrorKind::terminated, "terminated; nothing was left behind");
  if (stopped_by_ != 0) throw Error(ErrorKind::interrupted, "interrupted; nothing was left behind");
  std::vector<const RankRecord*> records;
  for (const RankProcess& rank : ranks_) records.push_back(&rank.record());
  const Error error = choose_error(records, options_.timeout);
  for (const RankProcess& rank : ranks_) {
    if (has_died(rank.record()) && rank.record().rank == error.where().rank) show_last_lines(rank);
  }
  throw error;
}

}  // namespace

int launch_ranks(const LaunchOptions& options) {
  // A parent that ignores SIGCHLD hands that on, and then no child's end can be learned.
  struct sigaction action = {};
  if (::sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
  Run run(options);
  run.start();
  run.watch();
  run.judge();
  return run.answers_no() ? kExitAnswerIsNo : kExitDone;
}

}  // namespace fsdpckpt
