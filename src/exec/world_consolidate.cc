#include "exec/world_consolidate.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/log.h"
#include "base/text.h"
#include "dist/agreement.h"
#include "exec/consolidate_plan.h"
#include "exec/rank_executor.h"
#include "exec/stop.h"
#include "exec/verified_sink.h"
#include "io/atomic_file.h"
#include "io/joined_file.h"

namespace fsdpckpt {
namespace {

/// Of everything that decides which rank does what: names, places and texts of the output, places in the input.
std::uint64_t digest_of(const Checkpoint::Data& data, const TorchFilePlan& plan) {
  const std::unique_ptr<XXH3_state_t, void (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                     [](XXH3_state_t* made) { XXH3_freeState(made); });
  XXH3_64bits_reset(state.get());
  const auto add = [&](const void* bytes, std::size_t size) { XXH3_64bits_update(state.get(), bytes, size); };
  for (const zip::PlannedRecord& record : plan.layout.records()) {
    add(record.name.data(), record.name.size());
    add(&record.size, sizeof record.size);
  }
  for (const OutputRecord& record : plan.records) add(record.text.data(), record.text.size());
  for (std::uint32_t i = 0; i < data.index.extent_count(); ++i) {
    const Extent extent = data.index.extent(i);
    const std::array<std::uint64_t, 4> numbers{extent.file, static_cast<std::uint64_t>(extent.encoding), extent.offset,
                                               extent.length};
    add(numbers.data(), sizeof numbers);
  }
  return XXH3_64bits_digest(state.get());
}

void require_same_plan(Communicator& world, std::uint64_t digest) {
  const std::vector<std::uint64_t> all = gather_values(world, digest);
  const auto other = std::ranges::find_if(all, [&](std::uint64_t their) { return their != all.front(); });
  if (other == all.end()) return;
  throw Error(ErrorKind::ranks, cat("rank 0 and rank ", other - all.begin(),
                                    " made different plans: their programs, options or inputs are not the same"));
}

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).string(); }

/// The output as this rank sees it: its own on the first rank, that rank's where it can be reached, or none.
class WorldOutput {
 public:
  WorldOutput(Communicator& world, const ConsolidateReport& report, const ConsolidateOptions& options,
              const WorldEvents& events, FileSystem& files)
      : world_(world), options_(options) {
    const auto announce = [&](const std::string& temporary) { events.temporary(absolute(temporary)); };
    agree(world, [&] {
      if (world.rank() == 0)
        own_.emplace(report.target, report.file_bytes,
                     AtomicFileOptions{.replace = options.replace, .sync = options.sync, .before_create = announce},
                     files);
    });
    join(report.target, files);
  }

  /// Of a rank that reaches the output.
  [[nodiscard]] ReadableSink& sink() {
    if (own_) return *own_;
    return *joined_;
  }
  [[nodiscard]] bool is_reached() const { return own_ || joined_; }
  [[nodiscard]] const std::vector<bool>& reach() const { return reach_; }
  [[nodiscard]] const std::string& temporary() const { return temporary_; }

  /// All ranks have written, and `check` throws on none; then the first names the file.
  void commit(const std::function<void()>& check) {
    if (world_.rank() != 0)
      return agree(world_, [&] {
        if (joined_ && options_.sync) joined_->sync();
        check();
      });
    bool is_agreed = false;
    try {
      own_->commit([&] {
        is_agreed = true;
        agree(world_, check);
      });
    } catch (...) {
      if (!is_agreed) agree(world_, std::current_exception());
      throw;
    }
  }

 private:
  /// The first rank's temporary has a random name: where a file of this name, number and size is, it is that file.
  void join(const std::string& target, FileSystem& files) {
    temporary_ = broadcast_text(world_, own_ ? absolute(own_->temporary_path()) : std::string(), 0);
    FileToken token = token_of(temporary_, files);
    const FileToken mine = token;
    world_.broadcast(std::as_writable_bytes(std::span(&token, 1)), 0);
    const std::uint8_t reaches = mine.inode == token.inode && mine.size == token.size ? 1 : 0;
    for (const std::uint8_t reached : gather_values(world_, reaches)) reach_.push_back(reached != 0);
    agree(world_, [&] {
      if (!own_ && reaches != 0) joined_.emplace(temporary_, target, files);
    });
  }

  Communicator& world_;
  const ConsolidateOptions& options_;
  std::optional<AtomicFile> own_;
  std::optional<JoinedFile> joined_;
  std::string temporary_;
  std::vector<bool> reach_;
};

/// Where a rank that reaches no output would write; it never does.
class NoOutput final : public PositionalSink {
 public:
  void write_at(std::uint64_t, Bytes) override { throw Error(ErrorKind::bug, "a rank without an output wrote"); }
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// What each rank did, on the first rank.
void add_shares(Communicator& world, const RankCounts& counts, ConsolidateReport& report) {
  RankShare mine{.pid = static_cast<std::uint64_t>(::getpid()),
                 .read = counts.here.read,
                 .sent = counts.here.sent,
                 .received = counts.here.received,
                 .written = counts.here.written,
                 .peak_anon_bytes = counts.here.peak_anon_bytes};
  const MovedBytes& moved = world.moved();
  const std::array<std::uint64_t, 9> numbers{mine.pid,        mine.read,        mine.sent,
                                             mine.received,   mine.written,     mine.peak_anon_bytes,
                                             moved.broadcast, moved.all_gather, moved.send};
  const auto all = gather_values(world, numbers);
  const std::vector<std::string> hosts = gather_texts(world, host_name());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& n = all[rank];
    report.ranks.push_back({hosts[rank], n[0], n[1], n[2], n[3], n[4], n[5]});
    report.moved_by_broadcast += n[6];
    report.moved_by_all_gather += n[7];
    report.moved_by_send += n[8];
  }
  report.backend = world.backend();
}

void write(const Checkpoint::Data& data, const TorchFilePlan& plan, const ConsolidateOptions& options,
           Communicator& world, const WorldEvents& events, ConsolidateReport& report) {
  WorldOutput output(world, report, options, events, disk());
  if (output.is_reached()) events.temporary(output.temporary());
  events.stage("data");
  NoOutput none;
  const RankExecutorOptions executor{.read = {.check_crc = options.check_crc},
                                     .send_always = options.exchange == ExchangeMode::always,
                                     .can_write = output.reach(),
                                     .stop = options.stop,
                                     .progress = options.progress};
  std::optional<VerifiedSink> verified;
  if (output.is_reached() && options.verify) verified.emplace(output.sink());
  PositionalSink& sink = verified              ? *verified
                         : output.is_reached() ? output.sink()
                                               : static_cast<PositionalSink&>(none);
  const RankCounts counts = write_torch_file(data, plan, sink, world, executor);
  agree(world, [&] {
    if (verified) verified->verify(options.stop);
  });
  add_check_notes(counts.counts, options, report);
  add_shares(world, counts, report);
  events.stage("commit");
  output.commit([&] {
    data.file_set->check_unchanged();
    throw_if_stopped(options.stop);
  });
}

}  // namespace

ConsolidateReport consolidate(Checkpoint& checkpoint, const std::string& target, const ConsolidateOptions& options,
                              Communicator& world, const WorldEvents& events) {
  const Stopwatch watch;
  ConsolidateReport report{.target = target};
  Checkpoint::Data& data = checkpoint.data();
  events.stage("plan");
  const TorchFilePlan planned = plan_consolidation(data, options, report);
  data.file_set->end_sharing();
  require_same_plan(world, digest_of(data, planned));
  agree(world, [&] {
    check_places(data, target, disk());
    if (world.rank() != 0) return;
    for (const std::string& stale : stale_temporaries(target))
      report.notes.push_back(cat("left by an interrupted run, or in use by another: ", quote(stale)));
    if (options.dry_run) check_writable(target, report.file_bytes, {.replace = options.replace, .sync = options.sync});
  });
  if (!options.dry_run) write(data, planned, options, world, events, report);
  report.seconds = watch.seconds();
  return report;
}

}  // namespace fsdpckpt
