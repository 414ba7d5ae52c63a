// The work of a world of ranks, cut into rounds: which rank writes which tile, which rank reads which piece of it. A
// function of the plan and of who holds which file, so all ranks come to the same rounds without a word. Bounded: in a
// round no rank sends, receives or writes more than a bucket (see RoundLimits).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/record_work.h"
#include "plan/tiles.h"

namespace fsdpckpt {

/// How one copy of a piece comes to the rank that writes it.
struct Delivery {
  SourceChunk* chunk = nullptr;
  Piece piece;
  std::uint64_t bytes = 0;
  int reader = 0;
  bool is_replica = false;  ///< to be compared with the delivery before it that is none
  bool is_sent = false;     ///< through the exchange; otherwise the writer reads it
};

/// The part of a task that belongs to one record.
struct RecordPart {
  std::uint32_t record = 0;
  std::uint64_t begin = 0, size = 0;  ///< bytes of the record's payload
  std::shared_ptr<RecordWork> work;
  std::vector<Delivery> deliveries;  ///< in the order of the tensor
};

/// A tile, or a batch of whole records with their headers, that one rank writes.
struct Task {
  int writer = 0;
  bool is_batch = false;
  std::uint64_t start = 0, size = 0;  ///< of the output file
  std::vector<RecordPart> parts;
};

struct RoundLimits {
  std::uint64_t tile_bytes = 1 << 20;
  std::uint64_t bucket_bytes = 8 << 20;  ///< at least a tile; measured: larger ones move more slowly
};

class RoundSequence {
 public:
  /// `can_write[rank]`: whether it reaches the output. `send_always`: every piece goes through the exchange.
  RoundSequence(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, std::vector<bool> can_write,
                bool send_always, const RoundLimits& limits);

  /// The tasks of the next round; empty at the end. Throws Error(input) naming a file that no rank has.
  std::vector<Task> next();

 private:
  [[nodiscard]] std::optional<Task> next_task();
  Task tile_task();
  Task batch_task(const Job& job);
  void add_part(Task& task, std::uint32_t record, std::uint64_t begin, std::uint64_t size);
  void add_delivery(Task& task, RecordPart& part, SourceChunk& chunk, const Piece& piece, bool is_replica);
  int choose_writer(std::uint64_t bytes);
  int choose_reader(SourceChunk& chunk, int writer) const;
  /// False when the task does not fit into what is left of the round's buckets.
  bool take_room(const Task& task);

  const Checkpoint::Data& checkpoint_;
  const TorchFilePlan& plan_;
  std::vector<bool> can_write_;
  bool send_always_;
  RoundLimits limits_;
  JobSequence jobs_;
  std::optional<Job> job_;            ///< a record whose tiles are not all given out
  int job_writer_ = -1;               ///< of all of them, where the record is compressed
  std::shared_ptr<RecordWork> work_;  ///< of the record last cut into tiles
  std::uint32_t work_record_ = UINT32_MAX;
  std::optional<Task> waiting_;                       ///< did not fit into the last round
  std::vector<std::uint64_t> written_, sent_;         ///< bytes of each rank so far
  std::vector<std::uint64_t> tiles_, sends_, takes_;  ///< bytes of each rank in this round
};

}  // namespace fsdpckpt
