#include "plan/tiles.h"

#include <gtest/gtest.h>

#include <random>

#include "model/boxes.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kTile = 64 << 10;

/// A plan made by hand: one tensor entry of bytes for each record.
struct Output {
  Checkpoint::Data checkpoint;
  TorchFilePlan plan;

  void add_tensor(std::uint64_t size, Encoding encoding = Encoding::torch_zip) {
    const auto elements = static_cast<std::int64_t>(size);
    const std::uint32_t first = checkpoint.index.add_box(Numbers{0}, Numbers{elements});
    const std::string name = "t" + std::to_string(plan.records.size());
    const EntryId entry = checkpoint.index.add_tensor(name, DType::uint8, Numbers{elements}, first, 1);
    checkpoint.index.place(entry, 0, checkpoint.index.add_extent({.encoding = encoding}));
    plan.layout.add("archive/" + name, size, size >= kTile ? 4096 : 64);
    plan.records.push_back({.source = OutputRecord::Source::tensor, .entry = entry});
  }
  void add_text(std::uint64_t size) {
    plan.layout.add("archive/text" + std::to_string(plan.records.size()), size, 1);
    plan.records.push_back({.source = OutputRecord::Source::text, .text = std::string(size, 'x')});
  }
  std::vector<Job> jobs(std::uint64_t tile = kTile) const {
    JobSequence sequence(checkpoint, plan, tile);
    std::vector<Job> jobs;
    while (const auto job = sequence.next()) jobs.push_back(*job);
    return jobs;
  }
};

/// Every byte of every payload is in exactly one job, in file order; tiles and batches are no larger than a tile.
void expect_whole(const Output& output, std::uint64_t tile = kTile) {
  const auto& records = output.plan.layout.records();
  std::uint32_t record = 0;
  std::uint64_t at = 0;
  for (const Job& job : output.jobs(tile)) {
    ASSERT_EQ(job.record, record);
    if (job.is_batch) {
      ASSERT_EQ(at, 0U);
      ASSERT_GT(job.record_end, job.record);
      const zip::PlannedRecord& last = records[job.record_end - 1];
      EXPECT_LE(last.data + last.size - records[job.record].header, tile);
      record = job.record_end;
      continue;
    }
    ASSERT_EQ(job.record_end, record + 1);
    ASSERT_EQ(job.begin, at);
    ASSERT_GT(job.end, job.begin) << "a tile without bytes writes no local header";
    EXPECT_TRUE(job.end - job.begin <= tile || is_compressed(output.checkpoint, output.plan.records[record]));
    at = job.end;
    if (at == records[record].size) ++record, at = 0;
  }
  EXPECT_EQ(record, records.size());
  EXPECT_EQ(at, 0U);
}

TEST(JobSequence, AnEmptyPlanHasNoJob) { EXPECT_TRUE(Output().jobs().empty()); }

TEST(JobSequence, CutsALargeRecordIntoTiles) {
  Output output;
  output.add_tensor(3 * kTile + 100);
  const std::vector<Job> jobs = output.jobs();
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[3].end - jobs[3].begin, 100U);
  expect_whole(output);
}

TEST(JobSequence, ARecordOfExactlyATileIsOneTile) {
  Output output;
  output.add_tensor(kTile);
  EXPECT_EQ(output.jobs().size(), 1U);
  expect_whole(output);
}

TEST(JobSequence, TakesSmallNeighboursTogether) {
  Output output;
  for (int i = 0; i < 20; ++i) output.add_tensor(100);
  const std::vector<Job> jobs = output.jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_TRUE(jobs[0].is_batch);
  EXPECT_EQ(jobs[0].record_end, 20U);
}

TEST(JobSequence, EndsABatchAtALargeRecord) {
  Output output;
  output.add_tensor(10);
  output.add_tensor(2 * kTile);
  output.add_tensor(10);
  EXPECT_EQ(output.jobs().size(), 4U);
  expect_whole(output);
}

TEST(JobSequence, ACompressedRecordIsOneJobWhateverItsSize) {
  Output output;
  output.add_tensor(10, Encoding::torch_zip_zstd);
  output.add_tensor(10 * kTile, Encoding::torch_zip_zstd);
  const std::vector<Job> jobs = output.jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_FALSE(jobs[0].is_batch);
  EXPECT_EQ(jobs[1].end, 10 * kTile);
  expect_whole(output);
}

TEST(JobSequence, AnEmptyCompressedRecordGoesIntoABatch) {
  Output output;
  output.add_tensor(0, Encoding::torch_zip_zstd);
  const std::vector<Job> jobs = output.jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_TRUE(jobs[0].is_batch);
}

TEST(JobSequence, ACompressedStorageOfAnObjectIsOneJob) {
  Output output;
  output.plan.layout.add("archive/data/0", 10 * kTile, 64);
  output.plan.records.push_back({.source = OutputRecord::Source::storage,
                                 .storage = {.extent = {.encoding = Encoding::torch_zip_zstd}, .size = 10 * kTile}});
  EXPECT_EQ(output.jobs().size(), 1U);
}

TEST(JobSequence, ATensorWithOneCompressedChunkIsCompressed) {
  Output output;
  Index& index = output.checkpoint.index;
  const EntryId entry = add_boxes(index, "w", {4}, {{{0}, {2}}, {{2}, {2}}});
  const OutputRecord record{.source = OutputRecord::Source::tensor, .entry = entry};
  EXPECT_FALSE(is_compressed(output.checkpoint, record));
  index.place(entry, 1, index.add_extent({.encoding = Encoding::torch_zip_zstd}));
  EXPECT_TRUE(is_compressed(output.checkpoint, record));
  EXPECT_FALSE(is_compressed(output.checkpoint, {.source = OutputRecord::Source::text}));
}

TEST(JobSequence, CoversEveryByteOnceInRandomPlans) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Output output;
    for (std::int64_t count = random_between(random, 1, 40); count > 0; --count) {
      const auto size = static_cast<std::uint64_t>(
          random_between(random, 0, 3) == 0 ? random_between(random, 0, 300'000) : random_between(random, 0, 900));
      const std::int64_t kind = random_between(random, 0, 5);
      if (kind == 0)
        output.add_text(size);
      else
        output.add_tensor(size, kind == 1 ? Encoding::torch_zip_zstd : Encoding::torch_zip);
    }
    ASSERT_NO_FATAL_FAILURE(expect_whole(output, random_between(random, 0, 1) == 0 ? kTile : 16 << 10));
  }
}

}  // namespace
}  // namespace fsdpckpt
