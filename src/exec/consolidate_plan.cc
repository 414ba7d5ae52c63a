#include "exec/consolidate_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "formats/optimizer_repair.h"
#include "formats/renaming.h"
#include "formats/selection.h"
#include "io/atomic_file.h"
#include "model/coverage.h"

namespace fsdpckpt {
namespace {

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

}  // namespace

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

void add_check_notes(const ExecutorCounts& counts, const ConsolidateOptions& options, ConsolidateReport& report) {
  report.chunks = counts.chunks;
  report.chunks_unchecked = options.check_crc ? counts.chunks_unchecked : counts.chunks;
  report.replicas_compared = counts.replicas;
  if (report.chunks_unchecked == 0) return;
  report.notes.push_back(options.check_crc ? cat(report.chunks_unchecked, " of ", report.chunks,
                                                 " chunks have no checksum; they were copied as they are")
                                           : cat("no checksum of the source was compared (--no-checksum)"));
}

TorchFilePlan plan_consolidation(Checkpoint::Data& data, const ConsolidateOptions& options, ConsolidateReport& report) {
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

}  // namespace fsdpckpt
