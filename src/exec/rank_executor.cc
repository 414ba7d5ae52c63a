#include "exec/rank_executor.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

#include "base/text.h"
#include "dist/agreement.h"
#include "exec/anonymous_memory.h"
#include "exec/assembler.h"
#include "exec/chunk_reader.h"
#include "exec/parcels.h"
#include "exec/stop.h"
#include "io/crc32.h"

namespace fsdpckpt {
namespace {

/// Tells all ranks a checksum: of a delivery, or of a part when `delivery` is kPart.
struct Report {
  std::uint32_t task, part, delivery;
  PieceChecksum checksum;
};
constexpr std::uint32_t kPart = UINT32_MAX;

/// A round on its way: its tasks, its parcels, what this rank has to tell of it.
struct Round {
  std::vector<Task> tasks;
  Parcels send, receive;
  std::unique_ptr<Transfer> transfer;
  std::vector<Report> reports;
  std::exception_ptr error;
};

class RankExecutor {
 public:
  RankExecutor(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink, Communicator& world,
               const RankExecutorOptions& options)
      : plan_(plan),
        sink_(sink),
        world_(world),
        options_(options),
        rank_(world.rank()),
        rounds_(checkpoint, plan, options.can_write, options.send_always, options.limits),
        reader_(*checkpoint.file_set, options.read, counters_),
        crcs_(plan.records.size()) {
    for (Round& round : slots_) {
      round.send = Parcels(static_cast<std::size_t>(world.size()));
      round.receive = Parcels(static_cast<std::size_t>(world.size()));
    }
  }

  /// While the parcels of one round are on their way, the round before it is assembled and written.
  RankCounts run() {
    Round* before = nullptr;
    for (std::size_t i = 0;; ++i) {
      Round& round = slots_[i % 2];
      round.tasks = rounds_.next();
      const bool is_last = round.tasks.empty();
      if (!is_last) start(round);
      if (before != nullptr) finish(*before);
      if (is_last) break;
      ++result_.rounds;
      before = &round;
    }
    agree(world_, [&] {
      if (deferred_) std::rethrow_exception(deferred_);
      if (rank_ == 0) write(plan_.layout.directory_offset(), as_bytes(plan_.layout.directory(crcs_)));
    });
    result_.counts = {counters_.chunks, counters_.chunks_unchecked, counters_.replicas};
    return result_;
  }

 private:
  /// Reads what others need of this rank and sends it; a failed read is told when the round ends.
  void start(Round& round) {
    round.reports.clear();
    round.error = nullptr;
    measure(round);
    try {
      throw_if_stopped(options_.stop);
      read_to_send(round);
    } catch (...) {
      round.error = std::current_exception();
    }
    result_.here.sent += round.send.total();
    result_.here.received += round.receive.total();
    round.transfer = world_.start(round.send.all(), round.receive.all());
    result_.here.peak_anon_bytes = std::max(result_.here.peak_anon_bytes, anonymous_memory());
  }

  /// How many bytes go to, and come from, each rank.
  void measure(Round& round) const {
    round.send.clear();
    round.receive.clear();
    for_each_delivery(round, [&](const Task& task, const Delivery& delivery) {
      if (!delivery.is_sent) return;
      if (delivery.reader == rank_) round.send.plan(task.writer, delivery.bytes);
      if (task.writer == rank_) round.receive.plan(delivery.reader, delivery.bytes);
    });
  }

  template <class Use>
  static void for_each_delivery(const Round& round, Use&& use) {
    for (const Task& task : round.tasks)
      for (const RecordPart& part : task.parts)
        for (const Delivery& delivery : part.deliveries) use(task, delivery);
  }

  void read_to_send(Round& round) {
    for (std::uint32_t t = 0; t < round.tasks.size(); ++t) {
      const Task& task = round.tasks[t];
      for (std::uint32_t p = 0; p < task.parts.size(); ++p) {
        const RecordPart& part = task.parts[p];
        for (std::uint32_t d = 0; d < part.deliveries.size(); ++d) {
          const Delivery& delivery = part.deliveries[d];
          if (!delivery.is_sent || delivery.reader != rank_) continue;
          read(delivery, part, round.send.next(task.writer, delivery.bytes), {t, p, d, {}}, round);
        }
      }
    }
  }

  /// Where a delivery is read, its checksum becomes known.
  void read(const Delivery& delivery, const RecordPart& part, MutableBytes out, Report report, Round& round) {
    report.checksum = reader_.read_alone(*delivery.chunk, part.work->item_size(), delivery.piece, out);
    result_.here.read += out.size();
    if (!delivery.is_replica) round.reports.push_back(report);
  }

  /// Assembles and writes this rank's tasks, then tells and hears what every rank knows of the round.
  void finish(Round& round) {
    round.transfer->wait();
    round.transfer.reset();
    try {
      if (round.error) std::rethrow_exception(round.error);
      for (std::uint32_t t = 0; t < round.tasks.size(); ++t) {
        if (round.tasks[t].writer == rank_) write_task(round, t);
      }
    } catch (...) {
      round.error = std::current_exception();
    }
    share_reports(round);
    round.tasks.clear();
  }

  void write_task(Round& round, std::uint32_t t) {
    const Task& task = round.tasks[t];
    const MutableBytes tile = tile_.take(task.size);
    for (std::uint32_t p = 0; p < task.parts.size(); ++p) {
      const RecordPart& part = task.parts[p];
      const zip::PlannedRecord& place = plan_.layout.records()[part.record];
      const MutableBytes payload = tile.subspan(place.data + part.begin - task.start, part.size);
      fill(round, t, p, payload);
      const std::uint32_t crc = crc32(payload);
      round.reports.push_back({t, p, kPart, {.seen = crc}});
      if (!task.is_batch) continue;
      const std::string header = plan_.layout.local_header(part.record, crc);
      std::memcpy(tile.data() + (place.header - task.start), header.data(), header.size());
    }
    write(task.start, tile);
  }

  void write(std::uint64_t offset, Bytes bytes) {
    sink_.write_at(offset, bytes);
    result_.here.written += bytes.size();
  }

  void fill(Round& round, std::uint32_t t, std::uint32_t p, MutableBytes out) {
    const RecordPart& part = round.tasks[t].parts[p];
    if (part.work->text() != nullptr) {
      if (!out.empty()) std::memcpy(out.data(), part.work->text()->data() + part.begin, out.size());
      return;
    }
    const std::uint64_t first = part.begin / part.work->item_size();
    MutableBytes copy;  // the last delivery that is no replica, dense
    for (std::uint32_t d = 0; d < part.deliveries.size(); ++d) {
      const Delivery& delivery = part.deliveries[d];
      const std::uint32_t item_size = part.work->item_size();
      const auto place = single_run(delivery.chunk->box, delivery.piece);
      const bool goes_there = place && !delivery.is_replica;
      const MutableBytes there =
          goes_there ? out.subspan((*place - first) * item_size, delivery.bytes) : MutableBytes();
      const MutableBytes bytes = bytes_of(round, {t, p, d, {}}, there);
      if (delivery.is_replica) {
        compare(copy, bytes, delivery);
        continue;
      }
      copy = bytes;
      if (goes_there)
        copy_to(there, bytes);
      else
        scatter_piece(delivery.chunk->box, delivery.piece, bytes, item_size, first, out);
    }
  }

  /// A delivery's bytes: as they were received, or read here, into `there` when that is not empty.
  MutableBytes bytes_of(Round& round, const Report& which, MutableBytes there) {
    const RecordPart& part = round.tasks[which.task].parts[which.part];
    const Delivery& delivery = part.deliveries[which.delivery];
    if (delivery.is_sent) return round.receive.next(delivery.reader, delivery.bytes);
    if (there.empty()) there = (delivery.is_replica ? replica_ : piece_).take(delivery.bytes);
    read(delivery, part, there, which, round);
    return there;
  }

  static void copy_to(MutableBytes there, MutableBytes bytes) {
    if (there.data() != bytes.data()) std::memcpy(there.data(), bytes.data(), bytes.size());
  }

  void compare(Bytes bytes, Bytes replica, const Delivery& delivery) const {
    if (std::ranges::equal(bytes, replica)) return;
    throw reader_.differing_replica(*delivery.chunk);
  }

  /// One collective tells all ranks whether all went well, and the first rank every checksum. How many there can be,
  /// all know from the tasks.
  void share_reports(Round& round) {
    if (deferred_ && !round.error) round.error = deferred_;
    struct Head {
      std::uint64_t has_failed, reports;
    };
    const std::size_t each = sizeof(Head) + most_reports(round) * sizeof(Report);
    std::vector<std::byte> mine(each), all(each * static_cast<std::size_t>(world_.size()));
    const Head head{.has_failed = round.error ? 1U : 0U, .reports = round.reports.size()};
    std::memcpy(mine.data(), &head, sizeof head);
    if (head.reports > 0) std::memcpy(mine.data() + sizeof head, round.reports.data(), head.reports * sizeof(Report));
    world_.all_gather(mine, all);
    bool is_well = true;
    for (std::size_t at = 0; at < all.size(); at += each) {
      Head theirs{};
      std::memcpy(&theirs, all.data() + at, sizeof theirs);
      is_well = is_well && theirs.has_failed == 0;
      if (rank_ == 0 && is_well)
        take_all(round, Bytes(all).subspan(at + sizeof theirs, theirs.reports * sizeof(Report)));
    }
    if (!is_well) agree(world_, round.error);
    if (rank_ == 0 && options_.progress) options_.progress(done_, plan_.layout.file_size());
  }

  [[nodiscard]] std::size_t most_reports(const Round& round) const {
    std::vector<std::size_t> counts(static_cast<std::size_t>(world_.size()), 0);
    for (const Task& task : round.tasks) counts[static_cast<std::size_t>(task.writer)] += task.parts.size();
    for_each_delivery(round, [&](const Task&, const Delivery& delivery) {
      if (!delivery.is_replica) ++counts[static_cast<std::size_t>(delivery.reader)];
    });
    return std::ranges::max(counts);
  }

  /// What the first rank finds wrong it tells with the next round, or at the end.
  void take_all(const Round& round, Bytes bytes) {
    try {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(Report)) {
        Report report{};
        std::memcpy(&report, bytes.data() + at, sizeof report);
        take(round, report);
      }
    } catch (...) {
      if (!deferred_) deferred_ = std::current_exception();
    }
  }

  void take(const Round& round, const Report& report) {
    const Task& task = round.tasks.at(report.task);
    const RecordPart& part = task.parts.at(report.part);
    if (report.delivery != kPart) {
      const Delivery& delivery = part.deliveries.at(report.delivery);
      return reader_.gather(*delivery.chunk, delivery.piece.first * part.work->item_size(), delivery.bytes,
                            report.checksum);
    }
    done_ += part.size;
    if (part.size > 0 && !part.work->crc().add(part.begin, part.size, report.checksum.seen)) return;
    crcs_[part.record] = part.work->crc().value();
    if (task.is_batch) return;  // its header was written with it
    const zip::PlannedRecord& place = plan_.layout.records()[part.record];
    write(place.header, as_bytes(plan_.layout.local_header(part.record, crcs_[part.record])));
  }

  const TorchFilePlan& plan_;
  PositionalSink& sink_;
  Communicator& world_;
  const RankExecutorOptions& options_;
  int rank_;
  RoundSequence rounds_;
  ReadCounters counters_;
  ChunkReader reader_;
  std::vector<std::uint32_t> crcs_;
  Round slots_[2];
  Buffer tile_, piece_, replica_;
  RankCounts result_;
  std::uint64_t done_ = 0;
  std::exception_ptr deferred_;
};

}  // namespace

RankCounts write_torch_file(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink,
                            Communicator& world, const RankExecutorOptions& options) {
  return RankExecutor(checkpoint, plan, sink, world, options).run();
}

}  // namespace fsdpckpt
