#include "exec/round_trip.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "dist/agreement.h"
#include "exec/assembler.h"
#include "exec/chunk_reader.h"
#include "exec/stop.h"
#include "model/checkpoint_data.h"
#include "plan/fsdp_shards.h"
#include "plan/tiles.h"

namespace fsdpckpt {
namespace {

/// Bytes [begin, end) of every rank's padded shard of one parameter.
struct Slice {
  EntryId entry = 0;
  FsdpShards shards;
  std::uint64_t begin = 0, end = 0;
  std::shared_ptr<RecordWork> work;
};

class RoundTrip {
 public:
  RoundTrip(const Checkpoint::Data& data, Communicator& world, const RoundTripOptions& options)
      : data_(data),
        world_(world),
        options_(options),
        ranks_(static_cast<std::uint64_t>(options.world_size)),
        each_((ranks_ + static_cast<std::uint64_t>(world.size()) - 1) / static_cast<std::uint64_t>(world.size())),
        reader_(*data.file_set, ReadOptions{.check_crc = false}, counters_),
        assembler_(reader_) {}

  RoundTripReport run() {
    for (EntryId id = 0; id < data_.index.entry_count(); ++id) {
      const Entry entry = data_.index.entry(id);
      if (entry.kind == EntryKind::tensor) add(id, entry);
    }
    flush();
    share_mismatches();
    report_.backend = world_.backend();
    report_.processes = world_.size();
    return report_;
  }

 private:
  /// The parameter's slices go into buckets of so many bytes a rank.
  void add(EntryId id, const Entry& entry) {
    ++report_.parameters;
    const std::uint64_t rows = entry.shape.empty() ? 1 : static_cast<std::uint64_t>(entry.shape.front());
    const FsdpShards shards(byte_count(entry), rows, ranks_);
    report_.bytes += shards.total;
    std::shared_ptr<RecordWork> work;
    const std::uint32_t item_size = fsdpckpt::item_size(entry.dtype);
    const std::uint64_t room = std::max<std::uint64_t>(options_.bucket_bytes / ranks_ / item_size, 1) * item_size;
    for (std::uint64_t begin = 0; begin < shards.padded;) {
      std::uint64_t left = room > filled_ ? (room - filled_) / item_size * item_size : 0;
      if (left == 0) {
        flush();
        left = room;
      }
      const std::uint64_t end = std::min(shards.padded, begin + left);
      if (!work) work = work_of(id, shards.total);
      bucket_.push_back({id, shards, begin, end, work});
      filled_ += end - begin;
      begin = end;
    }
  }

  [[nodiscard]] std::shared_ptr<RecordWork> work_of(EntryId id, std::uint64_t bytes) const {
    return std::make_shared<RecordWork>(data_, parameter(id), bytes);
  }

  static OutputRecord parameter(EntryId id) { return {.source = OutputRecord::Source::tensor, .entry = id}; }

  [[nodiscard]] std::uint64_t first_rank() const { return static_cast<std::uint64_t>(world_.rank()) * each_; }

  /// One bucket: shards, all-gather, comparison, reduce-scatter, comparison.
  void flush() {
    if (filled_ == 0) return;
    std::vector<std::byte> mine(each_ * filled_);
    agree(world_, [&] {
      throw_if_stopped(options_.stop);
      for (std::uint64_t i = 0; i < each_; ++i)
        take_shard(first_rank() + i, MutableBytes(mine).subspan(i * filled_, filled_));
    });
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(world_.size()));
    world_.all_gather(mine, all);
    report_.gathered_bytes += all.size();
    agree(world_, [&] { compare_with_checkpoint(all); });
    scatter_back(mine);
    done_ += all.size();
    if (options_.progress) options_.progress(std::min(done_, report_.bytes), report_.bytes);
    bucket_.clear();
    filled_ = 0;
  }

  /// What FSDP rank `rank` holds of the bucket: its bytes, zeros for padding and for ranks beyond the last.
  void take_shard(std::uint64_t rank, MutableBytes out) {
    std::uint64_t at = 0;
    for (const Slice& slice : bucket_) {
      const MutableBytes there = out.subspan(at, slice.end - slice.begin);
      if (rank < ranks_) read(slice, rank, there);
      at += there.size();
    }
    if (static_cast<int>(rank) == options_.flipped_rank && !is_flipped_ && rank < ranks_) flip(rank, out);
  }

  /// The bytes of the slice that belong to `rank`; what is beyond them in `out` stays.
  std::uint64_t read(const Slice& slice, std::uint64_t rank, MutableBytes out) {
    const std::uint64_t begin = std::min(slice.shards.end(rank), slice.shards.begin(rank) + slice.begin);
    const std::uint64_t end = std::min(slice.shards.end(rank), slice.shards.begin(rank) + slice.end);
    if (end == begin) return 0;
    // A compressed chunk is decoded front to back once: another reading starts anew.
    const bool is_once = is_compressed(data_, parameter(slice.entry));
    assembler_.fill(is_once ? *work_of(slice.entry, slice.shards.total) : *slice.work, begin, out.first(end - begin));
    return end - begin;
  }

  void flip(std::uint64_t rank, MutableBytes out) {
    std::uint64_t at = 0;
    for (const Slice& slice : bucket_) {
      const bool has_bytes = slice.shards.begin(rank) + slice.begin < slice.shards.end(rank);
      if (has_bytes) {
        out[at] ^= std::byte{1};
        is_flipped_ = true;
        return;
      }
      at += slice.end - slice.begin;
    }
  }

  void compare_with_checkpoint(Bytes all) {
    std::uint64_t at = 0;
    std::vector<std::byte> expected;
    for (const Slice& slice : bucket_) {
      expected.resize(slice.end - slice.begin);
      for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
        const std::uint64_t count = read(slice, rank, expected);
        const Bytes gathered = all.subspan(rank * filled_ + at, count);
        if (count > 0 && std::memcmp(gathered.data(), expected.data(), count) != 0) found(slice);
      }
      at += expected.size();
    }
  }

  /// Every owner contributes its bytes and zeros for the others: the sums are the shards.
  void scatter_back(Bytes mine) {
    std::vector<std::byte> contribution(mine.size() * static_cast<std::size_t>(world_.size())), back(mine.size());
    std::ranges::copy(mine, contribution.begin() + static_cast<std::ptrdiff_t>(first_rank() * filled_));
    world_.reduce_scatter(contribution, back);
    for (std::uint64_t i = 0; i < each_; ++i) {
      std::uint64_t at = i * filled_;
      for (const Slice& slice : bucket_) {
        const std::uint64_t length = slice.end - slice.begin;
        if (std::memcmp(back.data() + at, mine.data() + at, length) != 0) found(slice);
        at += length;
      }
    }
  }

  void found(const Slice& slice) { mismatches_.emplace(data_.index.entry(slice.entry).name); }

  /// What any rank found, in the order of names.
  void share_mismatches() {
    std::string text;
    for (const std::string& name : mismatches_) text += cat(name.size(), ":", name);
    std::set<std::string> all;
    for (const std::string& theirs : gather_texts(world_, text)) {
      for (std::size_t at = 0; at < theirs.size();) {
        const std::size_t colon = theirs.find(':', at), length = std::stoul(theirs.substr(at, colon - at));
        all.insert(theirs.substr(colon + 1, length));
        at = colon + 1 + length;
      }
    }
    report_.mismatches.assign(all.begin(), all.end());
  }

  const Checkpoint::Data& data_;
  Communicator& world_;
  const RoundTripOptions& options_;
  std::uint64_t ranks_, each_;  ///< FSDP ranks; how many of them each process carries
  ReadCounters counters_;
  ChunkReader reader_;
  Assembler assembler_;
  std::vector<Slice> bucket_;
  std::uint64_t filled_ = 0;  ///< bytes of the bucket a rank
  std::uint64_t done_ = 0;
  bool is_flipped_ = false;
  std::set<std::string> mismatches_;
  RoundTripReport report_;
};

}  // namespace

RoundTripReport fsdp_round_trip(Checkpoint& checkpoint, Communicator& world, const RoundTripOptions& options) {
  const Stopwatch watch;
  const Checkpoint::Data& data = checkpoint.data();
  if (!data.damages.empty()) throw data.damages.front();
  data.file_set->end_sharing();
  RoundTripReport report = RoundTrip(data, world, options).run();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace fsdpckpt
