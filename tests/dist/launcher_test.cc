#include "dist/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/text.h"
#include "dist/fake_ranks.h"

namespace fsdpckpt {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kFailed = R"(say 'failed {"kind": "io", "message": "disk full", "path": "/out"}'; exit 4)";
constexpr std::string_view kGaveUp = R"(say 'failed {"kind": "ranks", "message": "peer is gone"}'; exit 6)";

TEST(LaunchRanks, ReturnsWhenAllEndWell) {
  FakeRanks ranks(3, "exit 0");
  ranks.launch();
  EXPECT_EQ(ranks.pids().size(), 3);
  EXPECT_EQ(ranks.living(), 0);
}

TEST(LaunchRanks, TellsEachWhoItIs) {
  FakeRanks ranks(
      2, R"(echo "$FSDPCKPT_WORLD_SIZE $FSDPCKPT_LOCAL_RANK $1 $2" > said$rank; echo $FSDPCKPT_RUN > run$rank)");
  ranks.options.arguments = {"a b", ""};
  ::setenv("FSDPCKPT_WORLD_SIZE", "77", 1);  // of an outer run, say
  ranks.launch();
  ::unsetenv("FSDPCKPT_WORLD_SIZE");
  EXPECT_EQ(ranks.folder.read("said0"), "2 0 a b \n");
  EXPECT_EQ(ranks.folder.read("said1"), "2 1 a b \n");
  EXPECT_EQ(ranks.folder.read("run0"), ranks.folder.read("run1"));
  EXPECT_GT(ranks.folder.read("run0").size(), 8);
}

TEST(LaunchRanks, GivesRanksOneChannelAndNoInput) {
  FakeRanks ranks(2,
                  "readlink /proc/self/fd/0 > input$rank; for fd in /proc/$$/fd/*; do readlink $fd; done | grep -c "
                  "^socket > sockets$rank");
  ranks.launch();
  EXPECT_EQ(ranks.folder.read("input1"), "/dev/null\n");
  EXPECT_EQ(ranks.folder.read("sockets0"), ranks.folder.read("sockets1"));
}

TEST(LaunchRanks, PassesThePortOfRankZeroOn) {
  FakeRanks ranks(3, "if [ $rank = 0 ]; then say port 29500; else hear > heard$rank; fi");
  ranks.launch();
  EXPECT_EQ(ranks.folder.read("heard1"), "port 29500\n");
  EXPECT_EQ(ranks.folder.read("heard2"), "port 29500\n");
}

TEST(LaunchRanks, SaysWhatKilledARankAndWhatItDid) {
  FakeRanks ranks(4,
                  "[ $rank = 2 ] && { say stage opening; say \"stage copying 'a.b'\"; kill -9 $$; }; exec sleep 100");
  const Error error = ranks.failure();
  EXPECT_EQ(error.kind(), ErrorKind::ranks);
  EXPECT_STREQ(error.what(), "rank 2 was killed by signal 9 (out of memory?) while copying 'a.b'");
  EXPECT_EQ(error.where().rank, 2);
  EXPECT_THAT(error.where().rank_text, testing::MatchesRegex("rank 2 of 4, pid [0-9]+; the other ranks were stopped"));
}

TEST(LaunchRanks, SaysThatARankEndedWithoutAWord) {
  FakeRanks ranks(2, "[ $rank = 1 ] && exit 7; exec sleep 100");
  const Error error = ranks.failure();
  EXPECT_EQ(error.kind(), ErrorKind::ranks);
  EXPECT_STREQ(error.what(), "rank 1 ended with exit code 7 without a word");
}

TEST(LaunchRanks, ShowsTheLastLinesOfARankThatDied) {
  FakeRanks ranks(
      2,
      R"([ $rank = 1 ] && { for i in {1..9}; do echo "line $i" >&2; done; printf 'end\e[1m' >&2; exit 1; }; exit 0)");
  testing::internal::CaptureStderr();
  const Error error = ranks.failure();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rank 1: line 6\nrank 1: line 7\nrank 1: line 8\nrank 1: line 9\nrank 1: end\\x1b[1m\n");
}

TEST(LaunchRanks, LeavesTheErrorOutputToRankZeroAlone) {
  FakeRanks ranks(2, "echo \"this is $rank\" >&2");
  testing::internal::CaptureStderr();
  ranks.launch();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "this is 0\n");
}

TEST(LaunchRanks, ThrowsWhatARankReported) {
  FakeRanks ranks(2, cat("[ $rank = 1 ] && { ", kFailed, "; }; exit 0"));
  const Error error = ranks.failure();
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "disk full");
  EXPECT_EQ(error.where().path, "/out");
  EXPECT_EQ(error.where().rank, 1);
  EXPECT_EQ(error.where().rank_text, "rank 1 of 2");
}

TEST(LaunchRanks, KeepsTheRankThatAReportNames) {
  FakeRanks ranks(1,
                  R"(say 'failed {"kind": "input", "message": "m", "rank": 3, "rank_text": "rank 3 of 9"}'; exit 3)");
  EXPECT_EQ(ranks.failure().where().rank, 3);
}

TEST(LaunchRanks, PrefersACauseToItsConsequences) {
  FakeRanks ranks(3, cat("[ $rank = 2 ] && { sleep 0.5; ", kFailed, "; }; ", kGaveUp));
  EXPECT_STREQ(ranks.failure().what(), "disk full");
}

TEST(LaunchRanks, PrefersADeathToItsConsequences) {
  FakeRanks ranks(3, cat("[ $rank = 2 ] && { sleep 0.5; kill -SEGV $$; }; ", kGaveUp));
  EXPECT_STREQ(ranks.failure().what(), "rank 2 was killed by signal 11");
}

TEST(LaunchRanks, ThrowsAConsequenceWhenThereIsNoCause) {
  FakeRanks ranks(2, cat("[ $rank = 1 ] && { ", kGaveUp, "; }; exit 0"));
  const Error error = ranks.failure();
  EXPECT_STREQ(error.what(), "peer is gone");
  EXPECT_EQ(error.where().rank_text, "rank 1 of 2");
}

TEST(LaunchRanks, DoesNotBlameWhatItEndedItself) {
  FakeRanks ranks(2, cat("[ $rank = 1 ] && { ", kGaveUp, "; }; trap 'say failed {}; exit 9' TERM; sleep 100 & wait"));
  EXPECT_STREQ(ranks.failure().what(), "peer is gone");
}

TEST(LaunchRanks, EndsARankThatIgnoresSigterm) {
  FakeRanks ranks(2, "[ $rank = 1 ] && exit 1; trap '' TERM; while :; do sleep 1; done");
  EXPECT_LT(time_of([&] { EXPECT_STREQ(ranks.failure().what(), "rank 1 ended with exit code 1 without a word"); }),
            milliseconds(6'000));
}

TEST(LaunchRanks, EndsWhatRanksHaveStarted) {
  FakeRanks ranks(2, "sleep 100 & echo $! >> started; [ $rank = 1 ] && exit 1; wait");
  EXPECT_EQ(ranks.failure().kind(), ErrorKind::ranks);
  EXPECT_EQ(ranks.pids("started").size(), 2);
  EXPECT_TRUE(ranks.die("started"));
}

TEST(LaunchRanks, NoticesAStoppedRank) {
  FakeRanks ranks(
      4, "[ $rank = 0 ] && say port 5; [ $rank = 3 ] && { say stage reading; kill -STOP $$; }; exec sleep 100");
  ranks.options.timeout = milliseconds(1'000);
  const milliseconds time = time_of([&] {
    const Error error = ranks.failure();
    EXPECT_EQ(error.kind(), ErrorKind::ranks);
    EXPECT_STREQ(error.what(), "rank 3 was stopped (signal 19) and did not answer within 1 s while reading");
    EXPECT_EQ(error.where().rank, 3);
  });
  EXPECT_LT(time, milliseconds(6'000));
}

TEST(LaunchRanks, PrefersAStoppedRankToThoseThatGaveItUp) {
  FakeRanks ranks(3, cat("[ $rank = 2 ] && kill -STOP $$; sleep 0.5; ", kGaveUp));
  EXPECT_STREQ(ranks.failure().what(), "rank 2 was stopped (signal 19) and did not answer within 10 s");
}

TEST(LaunchRanks, PrefersAReportToARankThatIsStoppedForAMoment) {
  FakeRanks ranks(3, cat("[ $rank = 2 ] && kill -STOP $$; sleep 0.5; ", kFailed));
  EXPECT_STREQ(ranks.failure().what(), "disk full");
}

TEST(LaunchRanks, ForgivesARankThatContinues) {
  FakeRanks ranks(2, "[ $rank = 1 ] && { (sleep 0.5; kill -CONT $$) & kill -STOP $$; }; sleep 1.5");
  ranks.options.timeout = milliseconds(1'200);
  ranks.launch();
}

TEST(LaunchRanks, MissesThePort) {
  FakeRanks ranks(2, "[ $rank = 0 ] && say stage starting; exec sleep 100");
  ranks.options.timeout = milliseconds(500);
  EXPECT_LT(
      time_of([&] { EXPECT_STREQ(ranks.failure().what(), "rank 0 did not answer within 500 ms while starting"); }),
      milliseconds(5'500));
}

TEST(LaunchRanks, SaysThatTheProgramIsMissing) {
  FakeRanks ranks(2, "");
  ranks.options.program = "/missing/rank";
  const Error error = ranks.failure();
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "cannot start '/missing/rank': No such file or directory");
}

/// The error of a run of ranks that do `body`, when the flag is set after all have started.
Error stopped(int signal, std::string_view body, milliseconds& time) {
  std::atomic<int> stop{0};
  FakeRanks ranks(2, cat("say temporary $PWD/.a.fsdpckpt-1-2.tmp; : > .a.fsdpckpt-1-2.tmp\n", body));
  ranks.options.stop = &stop;
  std::thread user([&] {
    EXPECT_TRUE(FakeRanks::wait_until([&] { return ranks.folder.names().contains("ready1"); }));
    stop = signal;
  });
  Error error(ErrorKind::bug, "");
  time = time_of([&] { error = ranks.failure(); });
  user.join();
  EXPECT_FALSE(ranks.folder.names().contains(".a.fsdpckpt-1-2.tmp"));
  return error;
}

TEST(LaunchRanks, EndsWhenTheUserWantsItTo) {
  milliseconds time{};
  EXPECT_EQ(stopped(SIGINT, ": > ready$rank; exec sleep 100", time).kind(), ErrorKind::interrupted);
  EXPECT_EQ(stopped(SIGTERM, ": > ready$rank; exec sleep 100", time).kind(), ErrorKind::terminated);
}

TEST(LaunchRanks, WaitsForRanksThatCleanUpAfterASignal) {
  milliseconds time{};
  const Error error = stopped(SIGINT, "trap 'sleep 1; exit 130' TERM; : > ready$rank; sleep 100 & wait", time);
  EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  EXPECT_GE(time, milliseconds(1'000));
}

TEST(LaunchRanks, EndsStoppedRanksAtOnceAfterASignal) {
  milliseconds time{};
  EXPECT_EQ(stopped(SIGINT, ": > ready$rank; kill -STOP $$", time).kind(), ErrorKind::interrupted);
  EXPECT_LT(time, milliseconds(4'000));
}

TEST(LaunchRanks, IsContentWhenASignalComesTooLate) {
  std::atomic<int> stop{0};
  FakeRanks ranks(2, "trap 'exit 0' TERM; : > ready$rank; sleep 100 & wait");
  ranks.options.stop = &stop;
  std::thread user([&] {
    EXPECT_TRUE(FakeRanks::wait_until([&] { return ranks.folder.names().size() == 4; }));
    stop = SIGTERM;
  });
  ranks.launch();
  user.join();
}

TEST(LaunchRanks, NeedsNoStandardDescriptors) {
  FakeRanks ranks(2, "if [ $rank = 0 ]; then say port 1; else hear > heard; fi");
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    for (const int number : {0, 1, 2}) ::close(number);
    ranks.launch();
    ::_exit(0);
  }
  ::waitpid(launcher, nullptr, 0);
  EXPECT_EQ(ranks.folder.read("heard"), "port 1\n");
}

constexpr std::string_view kWithFiles = R"(
for file in .a.fsdpckpt-1-$rank.tmp foreign .tmp .b.tmp; do : > $file; say temporary $PWD/$file; done
)";

TEST(LaunchRanks, RemovesTheTemporariesOfARunThatFails) {
  FakeRanks ranks(2, cat(kWithFiles, "[ $rank = 1 ] && { sleep 0.3; exit 1; }; exec sleep 100"));
  static_cast<void>(ranks.failure());
  EXPECT_THAT(ranks.folder.names(), ElementsAre(".b.tmp", ".tmp", "foreign", "pids", "rank"));
}

TEST(LaunchRanks, KeepsTheFilesOfARunThatEndsWell) {
  FakeRanks ranks(2, kWithFiles);
  ranks.launch();
  EXPECT_TRUE(ranks.folder.names().contains(".a.fsdpckpt-1-0.tmp"));
  EXPECT_TRUE(ranks.folder.names().contains(".a.fsdpckpt-1-1.tmp"));
}

TEST(LaunchRanks, LearnsOfEndsWhereSigchldIsIgnored) {
  std::signal(SIGCHLD, SIG_IGN);
  FakeRanks ranks(2, "[ $rank = 1 ] && exit 7; exit 0");
  EXPECT_THAT(ranks.failure().what(), StartsWith("rank 1 ended with exit code 7"));
  std::signal(SIGCHLD, SIG_DFL);
}

TEST(LaunchRanks, SurvivesRubbishOnTheChannel) {
  FakeRanks ranks(2,
                  R"(say; say odd; say port; head -c 3000000 /dev/zero >&$FSDPCKPT_CONTROL; say; say stage b; exit 1)");
  EXPECT_THAT(ranks.failure().what(), HasSubstr("ended with exit code 1 without a word while b"));
}

TEST(LaunchRanks, TakesTheRanksAlongWhenItDies) {
  FakeRanks ranks(3, "exec sleep 100");
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    ranks.launch();
    ::_exit(0);
  }
  ASSERT_TRUE(FakeRanks::wait_until([&] { return ranks.pids().size() == 3; }));
  EXPECT_EQ(ranks.living(), 3);
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  EXPECT_TRUE(ranks.die("pids"));
}

}  // namespace
}  // namespace fsdpckpt
