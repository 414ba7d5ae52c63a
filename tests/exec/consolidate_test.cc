// The whole run: what it refuses, what it leaves behind, what it reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <initializer_list>
#include <set>

#include "base/error_of.h"
#include "exec/consolidated.h"

namespace fsdpckpt {
namespace {

using testing::HasSubstr;
using Names = std::set<std::string>;

class Consolidate : public testing::Test {
 protected:
  Consolidate() {
    builder_.add("model.w", values_, cut(values_.shape, 0, 2), {"model", "w"});
    builder_.add_object("epoch", object_item([](pickle::Writer& writer) { writer.integer(3); }));
    builder_.write(directory_, "ck");
  }
  ConsolidateReport run(const ConsolidateOptions& options = {}) {
    return consolidate_into(directory_, directory_.path("ck"), options);
  }
  Error error_to(const std::string& target, const ConsolidateOptions& options = {}) {
    return error_of([&] {
      Checkpoint checkpoint = open_checkpoint(directory_.path("ck"));
      consolidate(checkpoint, target, options);
    });
  }

  TempDir directory_;
  TensorValues values_ = sample_values("float32", {1000, 700});
  DcpBuilder builder_;
};

TEST_F(Consolidate, ReportsWhatWasWritten) {
  const ConsolidateReport report = run();
  EXPECT_EQ(report.target, directory_.path("out.pt"));
  EXPECT_EQ(report.tensors, 1U);
  EXPECT_EQ(report.objects, 1U);
  EXPECT_EQ(report.tensor_bytes, values_.bytes.size());
  EXPECT_EQ(report.file_bytes, directory_.read("out.pt").size());
  EXPECT_EQ(report.chunks, 2U);
  EXPECT_EQ(report.chunks_unchecked, 0U);
  EXPECT_TRUE(report.notes.empty());
}

TEST_F(Consolidate, NestsByThePaths) {
  run();
  EXPECT_EQ(object_names(directory_.path("out.pt")), Names{"epoch"});
  expect_tensors(read_tensors(directory_.path("out.pt")), {{"model.w", values_}});
}

TEST_F(Consolidate, VerifiesWhatItWrote) {
  run({.verify = true});
  expect_tensors(read_tensors(directory_.path("out.pt")), {{"model.w", values_}});
}

TEST_F(Consolidate, ADryRunWritesNothing) {
  const ConsolidateReport report = run({.dry_run = true});
  EXPECT_EQ(report.tensors, 1U);
  EXPECT_GT(report.file_bytes, values_.bytes.size());
  EXPECT_EQ(directory_.names(), Names{"ck"});
}

TEST_F(Consolidate, ADryRunRefusesWhatARunWould) {
  directory_.write("out.pt", "mine");
  EXPECT_EQ(error_of([&] { run({.dry_run = true}); }).kind(), ErrorKind::refused);
}

TEST_F(Consolidate, LeavesAnExistingFileAlone) {
  directory_.write("out.pt", "mine");
  EXPECT_EQ(error_of([&] { run(); }).kind(), ErrorKind::refused);
  EXPECT_EQ(directory_.read("out.pt"), "mine");
  EXPECT_EQ(directory_.names(), (Names{"ck", "out.pt"}));
}

TEST_F(Consolidate, ReplacesAnExistingFileWhenTold) {
  directory_.write("out.pt", "mine");
  run({.replace = true});
  expect_tensors(read_tensors(directory_.path("out.pt")), {{"model.w", values_}});
}

TEST_F(Consolidate, RefusesAnOutputInsideTheInput) {
  for (const bool replace : {false, true}) {
    for (const bool dry_run : {false, true}) {
      const ConsolidateOptions options{.replace = replace, .dry_run = dry_run};
      EXPECT_EQ(error_to(directory_.path("ck/out.pt"), options).kind(), ErrorKind::refused);
      EXPECT_EQ(error_to(directory_.path("ck"), options).kind(), ErrorKind::refused);
      EXPECT_EQ(error_to(directory_.path("ck/__0_0.distcp"), options).kind(), ErrorKind::refused);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path("ck/out.pt")));
}

TEST_F(Consolidate, RefusesAnOutputInsideTheInputBehindALink) {
  directory_.link("ck", "link");
  EXPECT_EQ(error_to(directory_.path("link/out.pt")).kind(), ErrorKind::refused);
}

TEST_F(Consolidate, AMissingFolderIsAnIoError) {
  EXPECT_EQ(error_to(directory_.path("nowhere/out.pt")).kind(), ErrorKind::io);
}

TEST_F(Consolidate, ASignalLeavesNothingBehind) {
  for (const auto& [signal, kind] : {std::pair(SIGINT, ErrorKind::interrupted), {SIGTERM, ErrorKind::terminated}}) {
    const std::atomic<int> stop{signal};
    EXPECT_EQ(error_of([&] { run({.stop = &stop}); }).kind(), kind);
    EXPECT_EQ(directory_.names(), Names{"ck"});
  }
}

TEST_F(Consolidate, ASignalInTheMiddleLeavesNothingBehind) {
  std::atomic<int> stop{0};
  const auto press = [&](std::uint64_t, std::uint64_t) { stop = SIGINT; };
  EXPECT_EQ(error_of([&] { run({.threads = 2, .memory_limit = 1 << 20, .stop = &stop, .progress = press}); }).kind(),
            ErrorKind::interrupted);
  EXPECT_EQ(directory_.names(), Names{"ck"});
}

TEST_F(Consolidate, ASignalAfterTheLastByteLeavesNothingBehind) {
  for (const bool verify : {false, true}) {
    std::atomic<int> stop{0};
    const auto press = [&](std::uint64_t done, std::uint64_t total) { stop = done + 100'000 > total ? SIGTERM : 0; };
    EXPECT_EQ(error_of([&] { run({.verify = verify, .stop = &stop, .progress = press}); }).kind(),
              ErrorKind::terminated);
    EXPECT_EQ(stop, SIGTERM);
    EXPECT_EQ(directory_.names(), Names{"ck"});
  }
}

TEST_F(Consolidate, ASourceThatIsOverwrittenMeanwhileIsNotCalledDamaged) {
  const std::string other(builder_.file(1).size(), 'x');
  const auto overwrite = [&](std::uint64_t, std::uint64_t) { directory_.write("ck/__1_0.distcp", other); };
  const Error error = error_of([&] { run({.threads = 1, .memory_limit = 1, .progress = overwrite}); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "changed while being read");
  EXPECT_EQ(error.where().path, directory_.path("ck/__1_0.distcp"));
}

TEST_F(Consolidate, WorksWithLittleMemoryAndManyThreads) {
  for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{100'000}, std::uint64_t{3} << 20}) {
    run({.replace = true, .threads = 16, .memory_limit = limit});
    expect_tensors(read_tensors(directory_.path("out.pt")), {{"model.w", values_}});
  }
}

TEST_F(Consolidate, NotesTheTemporariesOfInterruptedRuns) {
  directory_.write(".out.pt.fsdpckpt-1-abc.tmp", "");
  const ConsolidateReport report = run();
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], HasSubstr(".out.pt.fsdpckpt-1-abc.tmp"));
  EXPECT_TRUE(directory_.names().contains(".out.pt.fsdpckpt-1-abc.tmp")) << "another run may own it";
}

TEST_F(Consolidate, NotesStaleRankFiles) {
  directory_.write("ck/__7_0.distcp", "from an earlier save");
  directory_.write("ck/__8_0.distcp", "");
  const ConsolidateReport report = run();
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], HasSubstr("__7_0.distcp"));
}

TEST_F(Consolidate, AppliesTheSelection) {
  const TensorValues other = sample_values("int8", {3});
  builder_.add("model.other", other, cut(other.shape, 0, 1), {"model", "other"});
  builder_.write(directory_, "ck");
  run({.keep = {"model.*"}, .exclude = {"*.w"}});
  expect_tensors(read_tensors(directory_.path("out.pt")), {{"model.other", other}});
  EXPECT_TRUE(object_names(directory_.path("out.pt")).empty());
}

TEST_F(Consolidate, DropsObjectsWhenToldAndSaysSo) {
  const ConsolidateReport report = run({.objects = ObjectPolicy::drop});
  EXPECT_EQ(report.objects, 0U);
  EXPECT_TRUE(object_names(directory_.path("out.pt")).empty());
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], HasSubstr("1 object is left out"));
}

TEST_F(Consolidate, ATooLargeShapeNamesItsEntry) {
  builder_.entries()[0].shape = {std::int64_t{1} << 62, std::int64_t{1} << 62};
  builder_.write(directory_, "ck");
  const Error error = error_of([&] { run(); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().entry, "model.w");
}

TEST_F(Consolidate, ChecksCoverageBeforeAPayloadIsRead) {
  builder_.entries()[0].chunks.pop_back();
  builder_.file(0).assign(builder_.file(0).size(), '\0');
  builder_.write(directory_, "ck");
  const Error error = error_of([&] { run(); });
  EXPECT_EQ(error.where().box, "[500:1000, 0:700]");
  EXPECT_THAT(error.what(), HasSubstr("in no chunk"));
  EXPECT_EQ(directory_.names(), Names{"ck"});
}

TEST_F(Consolidate, FindsInputThatChangesWhileItIsRead) {
  bool done = false;
  const auto touch = [&](std::uint64_t, std::uint64_t) {
    if (!std::exchange(done, true)) directory_.write("ck/__0_0.distcp", builder_.file(0) + "more");
  };
  const Error error = error_of([&] { run({.threads = 1, .progress = touch}); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.what(), HasSubstr("changed while being read"));
  EXPECT_EQ(directory_.names(), Names{"ck"});
}

}  // namespace
}  // namespace fsdpckpt
