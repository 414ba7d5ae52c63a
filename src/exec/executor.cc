#include "exec/executor.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "exec/assembler.h"
#include "exec/record_work.h"
#include "exec/stop.h"
#include "exec/write_queue.h"
#include "plan/tiles.h"

namespace fsdpckpt {
namespace {

class Executor {
 public:
  Executor(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink,
           const ExecutorOptions& options)
      : checkpoint_(checkpoint),
        plan_(plan),
        sink_(sink),
        options_(options),
        jobs_(checkpoint, plan, options.tile_bytes),
        crcs_(plan.records.size()) {}

  ExecutorCounts run() {
    std::vector<std::thread> threads;
    start(threads);
    work();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    sink_.write_at(plan_.layout.directory_offset(), as_bytes(plan_.layout.directory(crcs_)));
    return {counters_.chunks, counters_.chunks_unchecked, counters_.replicas};
  }

 private:
  /// Where no more threads can be had, those that there are do the work.
  void start(std::vector<std::thread>& threads) {
    threads.reserve(options_.threads);
    try {
      for (unsigned i = 1; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      log_info(cat("only ", threads.size() + 1, " threads: ", error.what()));
    }
  }

  void work() {
    try {
      ChunkReader reader(*checkpoint_.file_set, options_.read, counters_);
      Assembler assembler(reader);
      WriteQueue queue(sink_, turn_, options_.buffers);
      std::shared_ptr<RecordWork> record;
      while (const auto job = take(record)) {
        if (job->is_batch)
          write_batch(*job, assembler, queue);
        else
          write_tiles(*job, *record, assembler, queue);
      }
      queue.flush();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }

  /// The next job, and the record it belongs to when that is shared with other jobs.
  std::optional<Job> take(std::shared_ptr<RecordWork>& record) {
    throw_if_stopped(options_.stop);
    const std::lock_guard lock(mutex_);
    if (failed_) return std::nullopt;
    const auto job = jobs_.next();
    if (job && !job->is_batch) {
      if (job->begin == 0)
        current_ = std::make_shared<RecordWork>(checkpoint_, plan_.records[job->record], size_of(job->record));
      record = current_;
    }
    return job;
  }

  [[nodiscard]] std::uint64_t size_of(std::uint32_t record) const { return plan_.layout.records()[record].size; }

  /// The tiles of one job: one, or all of a compressed record.
  void write_tiles(const Job& job, RecordWork& record, Assembler& assembler, WriteQueue& queue) {
    const zip::PlannedRecord& place = plan_.layout.records()[job.record];
    for (std::uint64_t begin = job.begin; begin < job.end; begin += options_.tile_bytes) {
      const std::uint64_t size = std::min(options_.tile_bytes, job.end - begin);
      const std::uint32_t crc = assembler.fill(record, begin, queue.next(size));
      if (options_.in_order && begin == 0) put_header(job.record, 0, queue);
      queue.put(place.data + begin);
      if (record.crc().add(begin, size, crc)) {
        crcs_[job.record] = record.crc().value();
        if (!options_.in_order) put_header(job.record, crcs_[job.record], queue);
      }
      report(size);
    }
  }

  void put_header(std::uint32_t record, std::uint32_t crc, WriteQueue& queue) const {
    queue.put(plan_.layout.records()[record].header, plan_.layout.local_header(record, crc));
  }

  /// Whole small records with their headers, in one write.
  void write_batch(const Job& job, Assembler& assembler, WriteQueue& queue) {
    const auto& records = plan_.layout.records();
    const std::uint64_t start = records[job.record].header;
    const zip::PlannedRecord& last = records[job.record_end - 1];
    const MutableBytes buffer = queue.next(last.data + last.size - start);
    for (std::uint32_t i = job.record; i < job.record_end; ++i) {
      const MutableBytes payload = buffer.subspan(records[i].data - start, records[i].size);
      RecordWork record(checkpoint_, plan_.records[i], records[i].size);
      crcs_[i] = assembler.fill(record, 0, payload);
      const std::string header = plan_.layout.local_header(i, crcs_[i]);
      std::memcpy(buffer.data() + (records[i].header - start), header.data(), header.size());
    }
    queue.put(start);
    report(buffer.size());
  }

  void report(std::uint64_t bytes) {
    const std::uint64_t done = done_.fetch_add(bytes) + bytes;
    if (!options_.progress) return;
    const std::unique_lock lock(progress_mutex_, std::try_to_lock);
    if (lock.owns_lock()) options_.progress(done, plan_.layout.file_size());
  }

  const Checkpoint::Data& checkpoint_;
  const TorchFilePlan& plan_;
  PositionalSink& sink_;
  const ExecutorOptions& options_;
  std::mutex turn_;   ///< at writing, where the file takes one writer
  std::mutex mutex_;  ///< guards jobs_, current_, error_
  JobSequence jobs_;
  std::shared_ptr<RecordWork> current_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::vector<std::uint32_t> crcs_;
  ReadCounters counters_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex progress_mutex_;
};

}  // namespace

ExecutorCounts write_torch_file(const Checkpoint::Data& checkpoint, const TorchFilePlan& plan, PositionalSink& sink,
                                const ExecutorOptions& options) {
  return Executor(checkpoint, plan, sink, options).run();
}

}  // namespace fsdpckpt
