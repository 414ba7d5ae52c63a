// consolidate(): open, plan, check, run, commit, report.
#include "exec/consolidate.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "exec/consolidate_plan.h"
#include "exec/executor.h"
#include "exec/stop.h"
#include "exec/verified_sink.h"
#include "io/atomic_file.h"
#include "io/stream_sink.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kDefaultMemory = 64ULL << 20;
constexpr std::uint64_t kSmallestTile = 256 << 10;
// Measured: the smaller keeps a thread's tiles in the second-level cache; with the larger, threads wait for each other
// less often, which a long run feels.
constexpr std::uint64_t kBestTile = 512 << 10;
constexpr std::uint64_t kBestTileOfLarge = 1 << 20;
constexpr std::uint64_t kLarge = 1ULL << 30;
constexpr std::uint64_t kBuffersPerThread =
    4;                                     // tile, piece, small item or replica, what a strided piece is gathered of
constexpr std::uint64_t kMostWaiting = 7;  // measured: further tiles that wait for their turn, where memory allows
constexpr std::uint64_t kMostGathered = 8 << 20;

ExecutorOptions executor_options(const ConsolidateOptions& options, std::uint64_t file_bytes) {
  const std::uint64_t memory = options.memory_limit == 0 ? kDefaultMemory : options.memory_limit;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  ExecutorOptions result{.threads = options.threads == 0 ? cores : options.threads,
                         .read = {.check_crc = options.check_crc},
                         .stop = options.stop,
                         .progress = options.progress};
  const std::uint64_t most = std::max<std::uint64_t>(1, memory / (kBuffersPerThread * kSmallestTile));
  result.threads = static_cast<unsigned>(std::min<std::uint64_t>(result.threads, most));
  const std::uint64_t each = memory / result.threads;
  result.tile_bytes = std::clamp(each / kBuffersPerThread / 4096 * 4096, kSmallestTile,
                                 file_bytes < kLarge ? kBestTile : kBestTileOfLarge);
  std::uint64_t left = each - std::min(each, kBuffersPerThread * result.tile_bytes);
  const std::uint64_t waiting = std::min(left / result.tile_bytes, kMostWaiting);
  result.buffers = 1 + waiting;
  left -= waiting * result.tile_bytes;
  result.read.gather_bytes = std::min(result.tile_bytes + left, kMostGathered);
  return result;
}

void write(const Checkpoint::Data& data, const TorchFilePlan& plan, const ConsolidateOptions& options,
           FileSystem& files, ConsolidateReport& report) {
  const Stopwatch watch;
  const ExecutorOptions executor = executor_options(options, report.file_bytes);
  log_info(cat("copy: ", executor.threads, " threads, tiles of ", executor.tile_bytes, " bytes"));
  AtomicFile file(report.target, report.file_bytes, {.replace = options.replace, .sync = options.sync}, files);
  if (options.verify) {
    VerifiedSink sink(file);
    add_check_notes(write_torch_file(data, plan, sink, executor), options, report);
    sink.verify(options.stop);
  } else {
    add_check_notes(write_torch_file(data, plan, file, executor), options, report);
  }
  data.file_set->check_unchanged();
  file.commit([&] { throw_if_stopped(options.stop); });  // syncing may take minutes
  log_info(cat("in place: ", report.target, ", ", watch.milliseconds(), " ms from the first byte on"));
}

}  // namespace

ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options) {
  return consolidate(checkpoint, target, options, disk());
}

ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options,
                              FileSystem& files) {
  const Stopwatch watch;
  ConsolidateReport report{.target = target};
  check_places(checkpoint.data(), target, files);
  unless_changed(checkpoint.data(), [&] {
    const TorchFilePlan planned = plan_consolidation(checkpoint.data(), options, report);
    for (const std::string& stale : stale_temporaries(target, files))
      report.notes.push_back(cat("left by an interrupted run, or in use by another: ", quote(stale)));
    if (options.dry_run)
      check_writable(target, report.file_bytes, {.replace = options.replace, .sync = options.sync}, files);
    else
      write(checkpoint.data(), planned, options, files, report);
  });
  report.seconds = watch.seconds();
  return report;
}

ConsolidateReport consolidate_to_stream(Checkpoint& checkpoint, int descriptor, const ConsolidateOptions& options) {
  const Stopwatch watch;
  ConsolidateReport report{.target = "stream"};
  ExecutorOptions executor = executor_options(options, 0);
  executor.threads = 1;
  executor.in_order = true;
  DescriptorSink stream(descriptor, report.target);
  InOrderSink sink(stream);
  unless_changed(checkpoint.data(), [&] {
    const TorchFilePlan planned = plan_consolidation(checkpoint.data(), options, report);
    if (!options.dry_run)
      add_check_notes(write_torch_file(checkpoint.data(), planned, sink, executor), options, report);
  });
  checkpoint.data().file_set->check_unchanged();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace fsdpckpt
