// consolidate(): open, plan, check, run, commit, report.
#include "exec/consolidate.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "exec/executor.h"
#include "exec/stop.h"
#include "exec/verified_sink.h"
#include "formats/optimizer_repair.h"
#include "formats/renaming.h"
#include "formats/selection.h"
#include "formats/torch_writer.h"
#include "io/atomic_file.h"
#include "io/stream_sink.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kDefaultMemory = 64ULL << 20;
constexpr std::uint64_t kSmallestTile = 256 << 10;
constexpr std::uint64_t kBestTile = 512 << 10;  // measured: a thread's tiles stay in the second-level cache
constexpr std::uint64_t kBuffersPerThread =
    4;                                     // tile, piece, small item or replica, what a strided piece is gathered of
constexpr std::uint64_t kMostWaiting = 2;  // measured: further tiles that wait for their turn, where memory allows
constexpr std::uint64_t kMostGathered = 8 << 20;

/// Every element of every selected tensor must come from exactly one chunk, before a payload byte is read.
void check_coverage(const Checkpoint::Data& data, const Selection& selection) {
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Entry entry = data.index.entry(id);
    if (!selection.entries[id] || entry.kind != EntryKind::tensor) continue;
    try {
      byte_count(entry);  // a shape beyond 64 bits
      const Coverage coverage = cover(data.index, id);
      if (coverage.problems.empty()) continue;
      const CoverageProblem& problem = coverage.problems.front();
      throw Error(ErrorKind::input, describe(problem, entry), {.box = box_text(problem.offsets, problem.sizes)});
    } catch (Error& error) {
      throw error.in_path(data.root).in_entry(std::string(entry.name));
    }
  }
}

/// Also by a hard or symbolic link.
bool is_file_of_input(const Checkpoint::Data& data, const std::string& target, FileSystem& files) {
  std::vector<std::string> paths;
  for (FileId file = 0; file < data.file_set->count(); ++file) paths.push_back(data.file_set->path(file));
  return is_one_of(target, paths, files);
}

void check_places(const Checkpoint::Data& data, const std::string& target, FileSystem& files) {
  const auto directories = data.file_set->directories();
  const bool is_spread = directories.size() > 1;
  const bool is_inside = same_or_nested(data.root, target, files) || is_file_of_input(data, target, files) ||
                         (is_spread && std::ranges::any_of(directories, [&](const std::string& directory) {
                            return same_or_nested(directory, target, files);
                          }));
  if (!is_inside) return;
  throw Error(ErrorKind::refused, "the output lies inside the input or is the input itself", {.path = target},
              "choose a place outside the checkpoint's directory");
}

ExecutorOptions executor_options(const ConsolidateOptions& options) {
  const std::uint64_t memory = options.memory_limit == 0 ? kDefaultMemory : options.memory_limit;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  ExecutorOptions result{.threads = options.threads == 0 ? cores : options.threads,
                         .read = {.check_crc = options.check_crc},
                         .stop = options.stop,
                         .progress = options.progress};
  const std::uint64_t most = std::max<std::uint64_t>(1, memory / (kBuffersPerThread * kSmallestTile));
  result.threads = static_cast<unsigned>(std::min<std::uint64_t>(result.threads, most));
  const std::uint64_t each = memory / result.threads;
  result.tile_bytes = std::clamp(each / kBuffersPerThread / 4096 * 4096, kSmallestTile, kBestTile);
  std::uint64_t left = each - std::min(each, kBuffersPerThread * result.tile_bytes);
  const std::uint64_t waiting = std::min(left / result.tile_bytes, kMostWaiting);
  result.buffers = 1 + waiting;
  left -= waiting * result.tile_bytes;
  result.read.gather_bytes = std::min(result.tile_bytes + left, kMostGathered);
  return result;
}

void add_check_notes(const ExecutorCounts& counts, const ConsolidateOptions& options, ConsolidateReport& report) {
  report.chunks = counts.chunks;
  report.chunks_unchecked = options.check_crc ? counts.chunks_unchecked : counts.chunks;
  report.replicas_compared = counts.replicas;
  if (report.chunks_unchecked == 0) return;
  report.notes.push_back(options.check_crc ? cat(report.chunks_unchecked, " of ", report.chunks,
                                                 " chunks have no checksum; they were copied as they are")
                                           : cat("no checksum of the source was compared (--no-checksum)"));
}

/// Everything before the first payload byte: what is written, and that it can be.
TorchFilePlan plan(Checkpoint::Data& data, const ConsolidateOptions& options, ConsolidateReport& report) {
  const Stopwatch watch;
  if (!data.damages.empty()) throw data.damages.front();
  report.notes = data.notes;
  Selection selection =
      select(data, {.keep = options.keep, .exclude = options.exclude, .model_only = options.model_only});
  check_coverage(data, selection);
  for (std::string& note : repair_optimizers(data, selection)) report.notes.push_back(std::move(note));
  for (std::string& note : rename_entries(data, selection, options.rename)) report.notes.push_back(std::move(note));
  TorchFilePlan plan = plan_torch_file(data, selection, options.objects, options.keep_device);
  report.notes.insert(report.notes.end(), plan.notes.begin(), plan.notes.end());
  report.tensors = plan.tensors;
  report.objects = plan.objects;
  report.tensor_bytes = plan.tensor_bytes;
  report.file_bytes = plan.layout.file_size();
  log_info(cat("plan: ", plan.records.size(), " records, ", report.file_bytes, " bytes, made in ", watch.milliseconds(),
               " ms"));
  return plan;
}

/// What `run` finds damaged is no damage when the source changed under it.
template <class Run>
void unless_changed(const Checkpoint::Data& data, const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::input) data.file_set->check_unchanged();
    throw;
  }
}

void write(const Checkpoint::Data& data, const TorchFilePlan& plan, const ConsolidateOptions& options,
           FileSystem& files, ConsolidateReport& report) {
  const Stopwatch watch;
  const ExecutorOptions executor = executor_options(options);
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
    const TorchFilePlan planned = plan(checkpoint.data(), options, report);
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
  ExecutorOptions executor = executor_options(options);
  executor.threads = 1;
  executor.in_order = true;
  DescriptorSink stream(descriptor, report.target);
  InOrderSink sink(stream);
  unless_changed(checkpoint.data(), [&] {
    const TorchFilePlan planned = plan(checkpoint.data(), options, report);
    if (!options.dry_run)
      add_check_notes(write_torch_file(checkpoint.data(), planned, sink, executor), options, report);
  });
  checkpoint.data().file_set->check_unchanged();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace fsdpckpt
