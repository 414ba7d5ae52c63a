// Worlds of ranks that are threads: the same file whoever writes and reads, whatever goes through the exchange.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/error_of.h"
#include "dist/agreement.h"
#include "dist/thread_world.h"
#include "dist/world_files.h"
#include "exec/consolidated.h"
#include "exec/rank_executor.h"
#include "exec/round_trip.h"
#include "exec/world_consolidate.h"
#include "formats/manifest.h"
#include "formats/open_shared.h"
#include "formats/selection.h"
#include "io/memory_sink.h"

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A checkpoint whose files are dealt out to the disks of hosts, the metadata to the last.
class Hosts {
 public:
  Hosts(const std::string& source, int count) : disks_(static_cast<std::size_t>(count)) {
    std::size_t next = 0;
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
      if (!entry.is_regular_file()) continue;
      const fs::path name = fs::relative(entry.path(), source);
      const bool is_metadata = name.extension() == ".metadata" || name == ".metadata";
      put(entry.path(), name, is_metadata ? disks_.size() - 1 : next++ % disks_.size());
    }
  }
  [[nodiscard]] std::string disk(int rank) const { return disks_[static_cast<std::size_t>(rank)].path(); }

 private:
  void put(const fs::path& from, const fs::path& name, std::size_t host) const {
    const fs::path to = fs::path(disks_[host].path()) / name;
    fs::create_directories(to.parent_path());
    fs::copy_file(from, to);
  }
  std::vector<TempDir> disks_;
};

struct Run {
  int ranks = 1;
  bool always = false;
  RoundLimits limits;
  bool first_writes = false;  ///< no other rank reaches the output
};

void expect_no_errors(const std::vector<std::exception_ptr>& errors) {
  for (const auto& thrown : errors) {
    if (thrown) ADD_FAILURE() << as_error(thrown).what() << " " << as_error(thrown).where().entry;
  }
}

/// The file that a world writes to memory, and what its ranks did.
std::string write_by_world(const Hosts& hosts, const Run& run, std::vector<RankCounts>* counts = nullptr) {
  MemoryPositionalSink sink;
  std::vector<RankCounts> all(static_cast<std::size_t>(run.ranks));
  expect_no_errors(test::run_world(run.ranks, [&](Communicator& world) {
    WorldFiles shared(world);
    Checkpoint checkpoint = open_shared(hosts.disk(world.rank()), {}, shared);
    const Selection selection = select(checkpoint.data(), {});
    const TorchFilePlan plan = plan_torch_file(checkpoint.data(), selection, ObjectPolicy::keep, false);
    checkpoint.data().file_set->end_sharing();
    std::vector<bool> can_write(static_cast<std::size_t>(run.ranks), !run.first_writes);
    can_write[0] = true;
    all[static_cast<std::size_t>(world.rank())] =
        write_torch_file(checkpoint.data(), plan, sink, world,
                         RankExecutorOptions{.limits = run.limits, .send_always = run.always, .can_write = can_write});
  }));
  if (counts != nullptr) *counts = all;
  return sink.content();
}

class Worlds : public testing::TestWithParam<Fixture> {};

TEST_P(Worlds, WriteTheSameFileAsOneProcess) {
  const std::string expected = write_to_memory(GetParam().directory, {.threads = 1});
  for (const int ranks : {1, 2, 3, 5}) {
    const Hosts hosts(GetParam().directory, ranks);
    for (const bool always : {false, true}) {
      for (const bool first_writes : {false, true}) {
        for (const std::uint64_t tile : {std::uint64_t{8192}, std::uint64_t{1} << 20}) {
          const RoundLimits limits{.tile_bytes = tile, .bucket_bytes = 2 * tile};
          EXPECT_TRUE(write_by_world(hosts, {ranks, always, limits, first_writes}) == expected)
              << ranks << " ranks, always " << always << ", first writes " << first_writes << ", tile " << tile;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TestData, Worlds, testing::ValuesIn(fixtures()), fixture_name);

std::string two_rank_files() { return test_data("lightning-2.6.6/fabric_fsdp"); }

TEST(WorldTest, SendsNothingWhereEveryWriterCanRead) {
  std::vector<RankCounts> counts;
  const Hosts hosts(two_rank_files(), 1);
  write_by_world(hosts, {.ranks = 1}, &counts);
  EXPECT_EQ(counts[0].here.sent, 0U);
  EXPECT_GT(counts[0].here.read, 0U);
}

TEST(WorldTest, SendsWhatTheWriterCannotRead) {
  std::vector<RankCounts> counts;
  const Hosts hosts(two_rank_files(), 2);
  write_by_world(hosts, {.ranks = 2, .first_writes = true}, &counts);
  EXPECT_GT(counts[1].here.sent, 0U);
  EXPECT_EQ(counts[1].here.sent, counts[0].here.received);
  EXPECT_EQ(counts[1].here.written, 0U);
}

TEST(WorldTest, SharesTheWritingEvenly) {
  std::vector<RankCounts> counts;
  const Hosts hosts(two_rank_files(), 2);
  write_by_world(hosts, {.ranks = 2, .limits = {.tile_bytes = 4096, .bucket_bytes = 8192}}, &counts);
  const auto [less, more] = std::minmax(counts[0].here.written, counts[1].here.written);
  EXPECT_LE(more - less, 4096U + 512U);  // a tile and the directory
}

/// Consolidates by a world into `target`; what each rank threw.
std::vector<std::exception_ptr> consolidate_by_world(const Hosts& hosts, int ranks, const std::string& target,
                                                     const ConsolidateOptions& options,
                                                     ConsolidateReport* report = nullptr) {
  return test::run_world(ranks, [&](Communicator& world) {
    WorldFiles shared(world);
    Checkpoint checkpoint = open_shared(hosts.disk(world.rank()), {}, shared);
    const WorldEvents events{.stage = [](std::string_view) {}, .temporary = [](const std::string&) {}};
    const ConsolidateReport made = consolidate(checkpoint, target, options, world, events);
    if (world.rank() == 0 && report != nullptr) *report = made;
  });
}

/// The round trip of a checkpoint that all ranks can read; every rank's report.
std::vector<RoundTripReport> round_trips(const std::string& source, int processes, const RoundTripOptions& options) {
  std::vector<RoundTripReport> reports(static_cast<std::size_t>(processes));
  expect_no_errors(test::run_world(processes, [&](Communicator& world) {
    WorldFiles shared(world);
    Checkpoint checkpoint = open_shared(source, {}, shared);
    reports[static_cast<std::size_t>(world.rank())] = fsdp_round_trip(checkpoint, world, options);
  }));
  return reports;
}

TEST_P(Worlds, EveryTensorSurvivesTheRoundTripAtAnyWorldSize) {
  const Checkpoint checkpoint = open_checkpoint(GetParam().directory);
  std::uint64_t bytes = 0, tensors = 0;
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id) {
    if (checkpoint.entry(id).kind != EntryKind::tensor) continue;
    ++tensors;
    bytes += byte_count(checkpoint.entry(id));
  }
  for (const int processes : {1, 2, 3}) {
    for (const int world_size : {1, 2, 5, 16}) {
      for (const std::uint64_t bucket : {std::uint64_t{64}, std::uint64_t{8} << 20}) {
        if (processes > world_size) continue;
        for (const RoundTripReport& report :
             round_trips(GetParam().directory, processes, {.world_size = world_size, .bucket_bytes = bucket})) {
          EXPECT_TRUE(report.mismatches.empty()) << report.mismatches.front();
          EXPECT_EQ(report.parameters, tensors);
          EXPECT_EQ(report.bytes, bytes);
          EXPECT_GE(report.gathered_bytes, bytes);
        }
      }
    }
  }
}

TEST(RoundTrip, AFlippedByteInOneRanksShardIsFoundAndNamedByAll) {
  const Checkpoint checkpoint = open_checkpoint(two_rank_files());
  constexpr std::uint64_t kWorld = 5;
  for (std::uint64_t rank = 0; rank < kWorld; ++rank) {
    std::string expected;  // the first tensor of which the rank has a part
    for (EntryId id = 0; id < checkpoint.entry_count() && expected.empty(); ++id) {
      const Entry entry = checkpoint.entry(id);
      if (entry.kind != EntryKind::tensor) continue;
      const std::uint64_t rows = entry.shape.empty() ? 1 : static_cast<std::uint64_t>(entry.shape.front());
      if ((rows + kWorld - 1) / kWorld * rank < rows) expected = entry.name;
    }
    for (const RoundTripReport& report :
         round_trips(two_rank_files(), 2, {.world_size = kWorld, .flipped_rank = static_cast<int>(rank)}))
      EXPECT_EQ(report.mismatches, std::vector<std::string>{expected}) << rank;
  }
}

TEST(WorldTest, PutsTheWholeFileInPlaceAndReportsWhatEachRankDid) {
  const TempDir directory, alone;
  consolidate_into(alone, two_rank_files());
  const Hosts hosts(two_rank_files(), 2);
  ConsolidateReport report;
  const ConsolidateOptions options{.verify = true, .exchange = ExchangeMode::always};
  expect_no_errors(consolidate_by_world(hosts, 2, directory.path("out.pt"), options, &report));
  EXPECT_TRUE(directory.read("out.pt") == alone.read("out.pt"));
  EXPECT_EQ(directory.names(), std::set<std::string>{"out.pt"});
  ASSERT_EQ(report.ranks.size(), 2U);
  EXPECT_EQ(report.ranks[0].sent + report.ranks[1].sent, report.moved_by_send);
  EXPECT_GE(report.moved_by_send, report.tensor_bytes);
}

TEST(WorldTest, AnExistingOutputIsEveryRanksErrorAndStays) {
  const TempDir directory;
  directory.write("out.pt", "old");
  const Hosts hosts(two_rank_files(), 3);
  for (const auto& thrown : consolidate_by_world(hosts, 3, directory.path("out.pt"), {})) {
    ASSERT_TRUE(thrown);
    EXPECT_EQ(as_error(thrown).kind(), ErrorKind::refused);
    EXPECT_EQ(as_error(thrown).where().rank, 0);
  }
  EXPECT_EQ(directory.read("out.pt"), "old");
}

TEST(WorldTest, AFileThatNoHostHasIsNamed) {
  const TempDir directory, copy;
  for (const auto& entry : fs::directory_iterator(two_rank_files())) {
    if (entry.path().filename() != "__1_0.distcp")
      fs::copy_file(entry.path(), copy.path(entry.path().filename().string()));
  }
  const Hosts hosts(copy.path(), 2);
  for (const auto& thrown : consolidate_by_world(hosts, 2, directory.path("out.pt"), {})) {
    ASSERT_TRUE(thrown);
    EXPECT_EQ(as_error(thrown).kind(), ErrorKind::input);
    EXPECT_THAT(as_error(thrown).where().path + as_error(thrown).what(), HasSubstr("__1_0.distcp"));
  }
  EXPECT_TRUE(directory.names().empty());
}

}  // namespace
}  // namespace fsdpckpt
