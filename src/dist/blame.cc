#include "dist/blame.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <tuple>

#include "base/text.h"
#include "dist/duration_text.h"

namespace fsdpckpt {
namespace {

using Records = std::vector<const RankRecord*>;

/// The rank with the least `key` among those that are `wanted`, or null; of equals the lowest.
template <class Wanted, class Key>
const RankRecord* least(const Records& ranks, const Wanted& wanted, const Key& key) {
  const RankRecord* found = nullptr;
  for (const RankRecord* rank : ranks) {
    if (std::invoke(wanted, *rank) && (found == nullptr || key(*rank) < key(*found))) found = rank;
  }
  return found;
}

template <class Wanted>
const RankRecord* lowest(const Records& ranks, const Wanted& wanted) {
  return least(ranks, wanted, [](const RankRecord& rank) { return rank.rank; });
}

std::string rank_of(const RankRecord& rank, std::size_t world) { return cat("rank ", rank.rank, " of ", world); }

/// Error(ranks) about a rank that cannot speak for itself any more.
Error error_about(const RankRecord& rank, const std::string& what, std::size_t world) {
  const std::string stage = rank.stage.empty() ? "" : cat(" while ", rank.stage);
  const std::string others = world > 1 ? "; the other ranks were stopped" : "";
  Error error(ErrorKind::ranks, cat("rank ", rank.rank, ' ', what, stage));
  return error.in_rank(rank.rank, cat(rank_of(rank, world), ", pid ", rank.pid, others));
}

/// SIGKILL comes from outside; other ends can be what another rank's death has led to.
auto order_of_death(const RankRecord& rank) {
  const int signal = rank.state.end_signal;
  return std::tuple(rank.end_look, signal == SIGKILL ? 0 : signal != 0 ? 1 : 2);
}

Error death(const RankRecord& rank, std::size_t world) {
  const int signal = rank.state.end_signal;
  if (signal == 0)
    return error_about(rank, cat("ended with exit code ", rank.state.exit_code, " without a word"), world);
  return error_about(rank, cat("was killed by signal ", signal, signal == SIGKILL ? " (out of memory?)" : ""), world);
}

Error stop(const RankRecord& rank, std::chrono::milliseconds timeout, std::size_t world) {
  const int signal = rank.stayed_away != 0 ? rank.stayed_away : rank.state.stop_signal;
  const std::string what = cat("was stopped (signal ", signal, ") and did not answer within ");
  return error_about(rank, what + duration_text(timeout), world);
}

Error silence(const RankRecord& rank, std::chrono::milliseconds timeout, std::size_t world) {
  return error_about(rank, cat("did not answer within ", duration_text(timeout)), world);
}

Error report(const RankRecord& rank, std::size_t world) {
  Error error = *rank.failure;
  return error.where().rank ? error : error.in_rank(rank.rank, rank_of(rank, world));
}

bool has_own_report(const RankRecord& rank) { return rank.failure && rank.failure->kind() != ErrorKind::ranks; }

bool has_report(const RankRecord& rank) { return rank.failure.has_value(); }

bool is_stopped(const RankRecord& rank) { return rank.state.stop_signal != 0; }

int order_of_report(const RankRecord& rank) { return rank.failure_look; }

}  // namespace

bool has_died(const RankRecord& rank) { return rank.ended_badly() && !rank.told_to_end && !rank.failure; }

Error choose_error(const Records& ranks, std::chrono::milliseconds timeout) {
  const std::size_t world = ranks.size();
  if (const RankRecord* rank = least(ranks, has_died, order_of_death)) return death(*rank, world);
  if (const RankRecord* rank = lowest(ranks, &RankRecord::stayed_away)) return stop(*rank, timeout, world);
  if (const RankRecord* rank = lowest(ranks, has_own_report)) return report(*rank, world);
  if (const RankRecord* rank = lowest(ranks, is_stopped)) return stop(*rank, timeout, world);
  if (const RankRecord* rank = lowest(ranks, &RankRecord::sent_no_port)) return silence(*rank, timeout, world);
  if (const RankRecord* rank = least(ranks, has_report, order_of_report)) return report(*rank, world);
  return Error(ErrorKind::bug, "a run failed for no known reason");
}

}  // namespace fsdpckpt
