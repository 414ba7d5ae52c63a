// Every call of a run that reaches the output's disk is made to fail, once and from there on for good, and the power is
// cut at every call: the output is what it was before, or complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <initializer_list>
#include <set>

#include "base/error_of.h"
#include "exec/consolidate.h"
#include "exec/consolidated.h"
#include "io/faulty_file_system.h"

namespace fsdpckpt {
namespace {

using Kind = Fault::Kind;

constexpr const char* kOld = "the old file";
constexpr int kCuts = 12;

/// A run, on a file system that lacks some calls.
struct Scenario {
  const char* name;
  bool over_old_file = false;
  bool verify = false;
  std::map<std::string, int> lacking = {};
};
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

struct Outcome {
  std::optional<Error> error;
  std::vector<std::string> calls;
  PowerCutModel model;
};

class Faults : public testing::TestWithParam<Scenario> {
 protected:
  Faults() {
    const TensorValues values = sample_values("float32", {300, 301});  // two tiles
    const TensorValues bias = sample_values("int8", {100});
    DcpBuilder builder;
    builder.add("model.w", values, cut(values.shape, 0, 2), {"model", "w"});
    builder.add("model.b", bias, cut(bias.shape, 0, 1), {"model", "b"});
    builder.add_object("epoch", object_item([](pickle::Writer& writer) { writer.integer(3); }));
    builder.write(input_, "ck");
    consolidate_into(input_, input_.path("ck"));
    expect_tensors(read_tensors(input_.path("out.pt")), {{"model.w", values}, {"model.b", bias}});
    new_ = input_.read("out.pt");
    if (GetParam().over_old_file) before_ = kOld;
  }

  Outcome run(const Fault& fault, const std::atomic<int>* stop = nullptr) {
    std::filesystem::remove_all(output_.path());
    std::filesystem::create_directory(output_.path());
    if (before_) output_.write("out.pt", *before_);
    FaultyFileSystem files(output_.path(), fault, GetParam().lacking);
    Outcome outcome;
    try {
      Checkpoint checkpoint = open_checkpoint(input_.path("ck"));
      const ConsolidateOptions options{
          .replace = before_.has_value(), .verify = GetParam().verify, .threads = 1, .memory_limit = 1, .stop = stop};
      consolidate(checkpoint, output_.path("out.pt"), options, files);
    } catch (const Error& error) {
      outcome.error = error;
    }
    outcome.calls = files.calls();
    outcome.model = files.model();
    return outcome;
  }

  /// The calls of a run without a fault.
  std::vector<std::string> clean_calls() {
    const Outcome outcome = run({});
    EXPECT_FALSE(outcome.error) << outcome.error->what();
    EXPECT_EQ(output_.read("out.pt"), new_);
    return outcome.calls;
  }

  [[nodiscard]] std::optional<std::string> found() const {
    if (!output_.names().contains("out.pt")) return std::nullopt;
    return output_.read("out.pt");
  }

  [[nodiscard]] bool is_before_or_new(const std::optional<std::string>& content) const {
    return content == before_ || content == new_;
  }

  /// Whenever the power is cut after the run, the output is the new one if the run said so.
  void expect_survives(const Outcome& outcome) {
    std::mt19937 random(static_cast<unsigned>(outcome.calls.size()));
    std::vector<PowerCutModel::Folder> folders{outcome.model.names_without_content()};
    for (int i = 0; i < kCuts; ++i) folders.push_back(outcome.model.after_cut(random));
    for (const PowerCutModel::Folder& folder : folders) {
      const auto at = folder.find("out.pt");
      const auto content = at == folder.end() ? std::nullopt : std::optional(at->second);
      EXPECT_TRUE(outcome.error ? is_before_or_new(content) : content == new_) << "after a power cut";
      ++(content == new_ ? cut_to_new_ : cut_to_before_);
    }
  }

  void expect_names_a_place(const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    EXPECT_THAT(error.what(), testing::AnyOf(testing::StartsWith("cannot "), testing::StartsWith("this file system ")));
    const std::string& path = error.where().path;
    const bool is_on_the_way = output_.path("out.pt").starts_with(path) || input_.path("ck").starts_with(path);
    const bool is_inside = path.starts_with(output_.path()) || path.starts_with(input_.path("ck"));
    EXPECT_TRUE(!path.empty() && (is_on_the_way || is_inside)) << error.what() << ": " << path;
  }

  TempDir input_, output_;
  std::string new_;
  std::optional<std::string> before_;
  int cut_to_new_ = 0, cut_to_before_ = 0;
};

/// Calls whose failure costs nothing but time, or a note.
bool may_fail(const std::string& call) { return call == "list" || call == "drop_pages" || call == "close folder"; }

/// The number of the call that gives the output its name.
std::size_t naming_call(const std::vector<std::string>& calls, bool links) {
  const auto names = [&](const std::string& call) {
    return links ? call == "link" : call == "rename" || call == "rename_new";
  };
  return static_cast<std::size_t>(std::ranges::find_if(calls, names) - calls.begin());
}

TEST_P(Faults, AFailedCallEndsTheRunAndLeavesNothing) {
  const std::vector<std::string> calls = clean_calls();
  const std::size_t naming = naming_call(calls, GetParam().lacking.contains("rename_new"));
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (GetParam().lacking.contains(calls[at])) continue;
    for (const int number : {EIO, ENOSPC}) {
      SCOPED_TRACE(testing::Message() << "call " << at << ", " << calls[at] << ", error " << number);
      const Outcome outcome = run({.at = at, .error = number});
      ASSERT_GT(outcome.calls.size(), at);
      EXPECT_EQ(outcome.error.has_value(), !may_fail(calls[at]));
      if (outcome.error) expect_names_a_place(*outcome.error);
      EXPECT_EQ(found(), outcome.error && at <= naming ? before_ : std::optional(new_));
      EXPECT_EQ(output_.names().size(), found() ? 1U : 0U) << "a temporary stayed";
      expect_survives(outcome);
    }
  }
}

TEST_P(Faults, ADiskThatStaysBrokenEndsTheRun) {
  const std::vector<std::string> calls = clean_calls();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    SCOPED_TRACE(testing::Message() << "from call " << at << ", " << calls[at]);
    const Outcome outcome = run({.at = at, .times = Fault::kForGood, .error = EIO});
    EXPECT_EQ(outcome.error.has_value(), calls[at] != "close folder");
    if (outcome.error) expect_names_a_place(*outcome.error);
    EXPECT_TRUE(is_before_or_new(found()));
    expect_survives(outcome);
  }
}

TEST_P(Faults, AFullDiskEndsTheRunAndLeavesNothing) {
  const auto needs_space = [](std::string_view call) {
    const std::set<std::string_view> free{"unlink",  "stat", "lstat", "access",
                                          "statvfs", "list", "pread", "drop_pages"};
    return !free.contains(call) && !call.ends_with("folder");
  };
  const std::vector<std::string> calls = clean_calls();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    SCOPED_TRACE(testing::Message() << "from call " << at << ", " << calls[at]);
    const Outcome outcome = run({.at = at, .times = Fault::kForGood, .error = ENOSPC, .hits = needs_space});
    const bool is_hit = std::ranges::any_of(calls.begin() + static_cast<std::ptrdiff_t>(at), calls.end(), needs_space);
    EXPECT_EQ(outcome.error.has_value(), is_hit);
    EXPECT_EQ(found(), is_hit ? before_ : std::optional(new_));
    EXPECT_EQ(output_.names().size(), found() ? 1U : 0U) << "a temporary stayed";
    expect_survives(outcome);
  }
}

TEST_P(Faults, AnInterruptedCallIsMadeAgain) {
  const std::vector<std::string> calls = clean_calls();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    for (const std::size_t times : {1U, 9U}) {
      SCOPED_TRACE(testing::Message() << "call " << at << ", " << calls[at] << ", " << times << " times");
      const Outcome outcome = run({.at = at, .times = times, .error = EINTR});
      EXPECT_FALSE(outcome.error) << outcome.error->what();
      EXPECT_EQ(found(), new_);
      EXPECT_EQ(output_.names().size(), 1U);
      expect_survives(outcome);
    }
  }
}

TEST_P(Faults, AShortWriteIsContinued) {
  const std::vector<std::string> calls = clean_calls();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    for (const std::size_t times : {std::size_t{1}, Fault::kForGood}) {
      SCOPED_TRACE(testing::Message() << "call " << at << ", " << calls[at]);
      const Outcome outcome = run({.at = at, .times = times, .kind = Kind::is_short});
      EXPECT_FALSE(outcome.error) << outcome.error->what();
      EXPECT_EQ(found(), new_);
      expect_survives(outcome);
    }
  }
}

TEST_P(Faults, AWriteThatWritesNothingIsAnError) {
  const std::vector<std::string> calls = clean_calls();
  const auto write = static_cast<std::size_t>(std::ranges::find(calls, "pwrite") - calls.begin());
  const Outcome outcome = run({.at = write, .times = Fault::kForGood, .kind = Kind::writes_none});
  ASSERT_TRUE(outcome.error);
  EXPECT_STREQ(outcome.error->what(), "cannot write: Input/output error");
  EXPECT_EQ(found(), before_);
}

TEST_P(Faults, ANameThatWasGivenThoughTheCallFailedIsOfACompleteFile) {
  const std::vector<std::string> calls = clean_calls();
  const std::size_t naming = naming_call(calls, GetParam().lacking.contains("rename_new"));
  const Outcome outcome = run({.at = naming, .kind = Kind::fails_done, .error = EIO});
  EXPECT_TRUE(outcome.error);
  EXPECT_EQ(found(), new_);
  EXPECT_EQ(output_.names().size(), 1U);
  expect_survives(outcome);
}

TEST_P(Faults, ASignalUntilTheFileIsSyncedLeavesWhatWasThere) {
  const std::vector<std::string> calls = clean_calls();
  const std::size_t naming = naming_call(calls, GetParam().lacking.contains("rename_new"));
  for (const char* during : {"fsync", "drop_pages", "close"}) {
    if (std::ranges::find(calls, during) >= calls.begin() + static_cast<std::ptrdiff_t>(naming)) continue;
    SCOPED_TRACE(during);
    std::atomic<int> stop{0};
    const auto press = [&](std::string_view call) {
      if (call == during) stop = SIGTERM;
      return false;
    };
    const Outcome outcome = run({.at = 0, .times = Fault::kForGood, .hits = press}, &stop);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->kind(), ErrorKind::terminated);
    EXPECT_EQ(found(), before_);
    EXPECT_EQ(output_.names().size(), found() ? 1U : 0U) << "a temporary stayed";
  }
}

TEST_P(Faults, APowerCutLeavesTheOldFileOrTheNewOne) {
  const std::size_t count = clean_calls().size();
  for (std::size_t at = 0; at <= count; ++at) {
    SCOPED_TRACE(testing::Message() << "cut before call " << at);
    const Outcome outcome = run({.at = at, .kind = Kind::power_cut});
    EXPECT_EQ(outcome.error.has_value(), at < count - 1) << "the last call closes the folder";
    EXPECT_TRUE(is_before_or_new(found()));
    expect_survives(outcome);
  }
  EXPECT_GT(cut_to_new_, 0);
  EXPECT_GT(cut_to_before_, 0);
}

const Scenario kScenarios[] = {
    {.name = "Fresh"},
    {.name = "OverAnOldFile", .over_old_file = true},
    {.name = "Verified", .verify = true},
    {.name = "WithoutRenameNoReplace", .lacking = {{"rename_new", EINVAL}}},
    {.name = "WithoutRenameat2", .lacking = {{"rename_new", ENOSYS}}},
    {.name = "WithoutFallocate", .lacking = {{"fallocate", EOPNOTSUPP}}},
    {.name = "WithoutSyncFileRange", .lacking = {{"start_writeback", ENOSYS}}},
};
INSTANTIATE_TEST_SUITE_P(Runs, Faults, testing::ValuesIn(kScenarios),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

}  // namespace
}  // namespace fsdpckpt
