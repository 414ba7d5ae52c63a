// What every way of consolidating does before and after the copying: where the output may lie, what it will hold, what
// is said of it.
#pragma once

#include <fsdpckpt/convert.h>

#include <string>

#include "exec/executor.h"
#include "formats/torch_writer.h"
#include "io/file_system.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Throws Error(refused) when `target` lies in the input, holds it, or is a file of it, also by a link.
void check_places(const Checkpoint::Data& data, const std::string& target, FileSystem& files);

/// Everything before the first payload byte: what is written, and that it can be. Fills what of `report` is known then.
/// Throws Error(input) naming entry and box when an element of a selected tensor comes from no chunk or from several.
TorchFilePlan plan_consolidation(Checkpoint::Data& data, const ConsolidateOptions& options, ConsolidateReport& report);

void add_check_notes(const ExecutorCounts& counts, const ConsolidateOptions& options, ConsolidateReport& report);

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

}  // namespace fsdpckpt
