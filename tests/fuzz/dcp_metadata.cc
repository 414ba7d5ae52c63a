// Any bytes as the .metadata of a directory with two rank files: a checkpoint whose chunks can be judged, or an Error.
#include "formats/dcp_reader.h"
#include "fuzz/own_folder.h"
#include "fuzz/target.h"
#include "model/checkpoint_data.h"
#include "model/coverage.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr std::uintmax_t kRankFile = 1 << 20;  ///< bytes, all zero

const OwnFolder& folder() {
  static const OwnFolder own;
  static const bool is_filled = [] {
    for (const char* name : {"__0_0.distcp", "__1_0.distcp"}) own.add_zeros(name, kRankFile);
    return true;
  }();
  require(is_filled);
  return own;
}

void open_and_judge(Input input) {
  const Checkpoint checkpoint = open_dcp(folder().path(), MemorySource(bytes_of(input), ".metadata"));
  if (!checkpoint.data().damages.empty()) throw checkpoint.data().damages.front();
  const Index& index = checkpoint.data().index;
  for (EntryId id = 0; id < index.entry_count(); ++id) {
    const Entry entry = index.entry(id);
    if (entry.kind != EntryKind::tensor) continue;
    for (const CoverageProblem& problem : cover(index, id).problems)
      throw Error(ErrorKind::input, describe(problem, entry));
  }
}

}  // namespace

int judge(Input input) {
  return verdict_of([&] { open_and_judge(input); });
}

}  // namespace fsdpckpt::fuzz
