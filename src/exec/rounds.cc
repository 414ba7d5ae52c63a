#include "exec/rounds.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "io/file_set.h"

namespace fsdpckpt {
namespace {

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

/// The rank with the least load among those that may; -1 when none may.
int least_loaded(const std::vector<bool>& may, const std::vector<std::uint64_t>& load, int but = -1) {
  int best = -1;
  for (int rank = 0; rank < static_cast<int>(may.size()); ++rank) {
    if (may[at(rank)] && rank != but && (best < 0 || load[at(rank)] < load[at(best)])) best = rank;
  }
  return best;
}

}  // namespace

RoundSequence::RoundSequence(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, std::vector<bool> can_write,
                             bool send_always, const RoundLimits& limits)
    : checkpoint_(checkpoint),
      plan_(plan),
      can_write_(std::move(can_write)),
      send_always_(send_always),
      limits_(limits),
      jobs_(checkpoint, plan, limits.tile_bytes),
      written_(can_write_.size()),
      sent_(can_write_.size()),
      tiles_(can_write_.size()),
      sends_(can_write_.size()),
      takes_(can_write_.size()) {}

std::vector<Task> RoundSequence::next() {
  for (auto* load : {&tiles_, &sends_, &takes_}) std::ranges::fill(*load, 0);
  std::vector<Task> round;
  while (true) {
    if (!waiting_) waiting_ = next_task();
    if (!waiting_ || !take_room(*waiting_)) return round;
    round.push_back(std::move(*waiting_));
    waiting_.reset();
  }
}

bool RoundSequence::take_room(const Task& task) {
  auto tiles = tiles_, sends = sends_, takes = takes_;
  tiles[at(task.writer)] += task.size;
  for (const RecordPart& part : task.parts) {
    for (const Delivery& delivery : part.deliveries) {
      if (!delivery.is_sent) continue;
      sends[at(delivery.reader)] += delivery.bytes;
      takes[at(task.writer)] += delivery.bytes;
    }
  }
  const bool is_first = std::ranges::all_of(tiles_, [](std::uint64_t bytes) { return bytes == 0; });
  const auto is_full = [&](const auto& load) { return std::ranges::max(load) > limits_.bucket_bytes; };
  if (!is_first && (is_full(tiles) || is_full(sends) || is_full(takes))) return false;
  tiles_ = std::move(tiles);
  sends_ = std::move(sends);
  takes_ = std::move(takes);
  return true;
}

std::optional<Task> RoundSequence::next_task() {
  if (!job_) {
    job_ = jobs_.next();
    job_writer_ = -1;
  }
  if (!job_) return std::nullopt;
  if (!job_->is_batch) return tile_task();
  const Job batch = *job_;
  job_.reset();
  return batch_task(batch);
}

/// The next tile of the job: one is all of it, unless the record is compressed.
Task RoundSequence::tile_task() {
  const zip::PlannedRecord& place = plan_.layout.records()[job_->record];
  const std::uint64_t begin = job_->begin, size = std::min(limits_.tile_bytes, job_->end - begin);
  Task task{.writer = job_writer_ < 0 ? choose_writer(job_->end - begin) : job_writer_,
            .start = place.data + begin,
            .size = size};
  job_writer_ = task.writer;
  add_part(task, job_->record, begin, size);
  job_->begin += size;
  if (job_->begin == job_->end) job_.reset();
  return task;
}

Task RoundSequence::batch_task(const Job& job) {
  const auto& records = plan_.layout.records();
  const zip::PlannedRecord& last = records[job.record_end - 1];
  const std::uint64_t start = records[job.record].header, size = last.data + last.size - start;
  Task task{.writer = choose_writer(size), .is_batch = true, .start = start, .size = size};
  task.parts.reserve(job.record_end - job.record);
  for (std::uint32_t record = job.record; record < job.record_end; ++record)
    add_part(task, record, 0, records[record].size);
  return task;
}

void RoundSequence::add_part(Task& task, std::uint32_t record, std::uint64_t begin, std::uint64_t size) {
  if (record != work_record_) {
    work_ = std::make_shared<RecordWork>(checkpoint_, plan_.records[record], plan_.layout.records()[record].size);
    work_record_ = record;
  }
  RecordPart part{.record = record, .begin = begin, .size = size, .work = work_};
  const std::uint32_t item_size = work_->item_size();
  if (work_->text() == nullptr) {
    work_->for_each_piece(begin / item_size, (begin + size) / item_size, [&](SourceChunk& chunk, const Piece& piece) {
      add_delivery(task, part, chunk, piece, false);
      for (SourceChunk* replica : chunk.replicas) add_delivery(task, part, *replica, piece, true);
    });
  }
  task.parts.push_back(std::move(part));
}

void RoundSequence::add_delivery(Task& task, RecordPart& part, SourceChunk& chunk, const Piece& piece,
                                 bool is_replica) {
  Delivery delivery{.chunk = &chunk,
                    .piece = piece,
                    .bytes = piece.count * part.work->item_size(),
                    .reader = choose_reader(chunk, task.writer),
                    .is_replica = is_replica};
  delivery.is_sent = send_always_ || delivery.reader != task.writer;
  if (delivery.is_sent) sent_[at(delivery.reader)] += delivery.bytes;
  part.deliveries.push_back(delivery);
}

int RoundSequence::choose_writer(std::uint64_t bytes) {
  const int writer = least_loaded(can_write_, written_);
  written_[at(writer)] += bytes;
  return writer;
}

/// A compressed chunk is read front to back by one rank.
int RoundSequence::choose_reader(SourceChunk& chunk, int writer) const {
  if (chunk.stream && chunk.reader >= 0) return chunk.reader;
  const FileId file = chunk.chunk.extent.file;
  const std::vector<bool>& holders = checkpoint_.file_set->holders(file);
  if (holders.empty()) throw Error(ErrorKind::input, "file is missing", {.path = checkpoint_.file_set->path(file)});
  int reader = writer;
  if (send_always_ || !holders[at(writer)]) {
    const int other = least_loaded(holders, sent_, writer);
    if (other >= 0) reader = other;
  }
  if (chunk.stream) chunk.reader = reader;
  return reader;
}

}  // namespace fsdpckpt
