#include "io/atomic_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <set>
#include <thread>

#include "base/error_of.h"
#include "io/sample_bytes.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

const AtomicFileOptions kNew{.replace = false, .sync = false};
const AtomicFileOptions kReplace{.replace = true, .sync = false};
const AtomicFileOptions kSynced{.replace = false, .sync = true};

std::string read_back(const AtomicFile& file, std::uint64_t offset, std::size_t length) {
  std::string out(length, '\0');
  file.read_at(offset, {reinterpret_cast<std::byte*>(out.data()), length});
  return out;
}

/// Limits the size of files that this process may write, as a quota would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lowered{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lowered);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AtomicFile, AppearsOnlyAtCommit) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 6, kNew);
  file.write_at(0, as_bytes("abcdef"));
  EXPECT_FALSE(std::filesystem::exists(dir.path("out.pt")));
  file.commit();
  EXPECT_EQ(dir.read("out.pt"), "abcdef");
  EXPECT_EQ(dir.names(), std::set<std::string>{"out.pt"});
}

TEST(AtomicFile, CommitsWithSync) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 3, kSynced);
  file.write_at(0, as_bytes("abc"));
  file.commit();
  EXPECT_EQ(dir.read("out.pt"), "abc");
}

TEST(AtomicFile, DestroyedWithoutCommitRemovesItsTemporary) {
  const TempDir dir;
  {
    AtomicFile file(dir.path("out.pt"), 3, kNew);
    file.write_at(0, as_bytes("abc"));
    EXPECT_EQ(dir.names().size(), 1U);
  }
  EXPECT_TRUE(dir.names().empty());
}

TEST(AtomicFile, TheTemporaryLiesBesideTheTargetAndNamesTheProcess) {
  const TempDir dir;
  const AtomicFile file(dir.path("out.pt"), 0, kNew);
  const std::string prefix = dir.path() + "/.out.pt.fsdpckpt-" + std::to_string(::getpid()) + "-";
  EXPECT_THAT(file.temporary_path(), testing::StartsWith(prefix));
  EXPECT_THAT(file.temporary_path(), testing::EndsWith(".tmp"));
  EXPECT_TRUE(std::filesystem::exists(file.temporary_path()));
}

TEST(AtomicFile, TwoFilesForOneTargetHaveDifferentTemporaries) {
  const TempDir dir;
  const AtomicFile a(dir.path("out.pt"), 0, kNew);
  const AtomicFile b(dir.path("out.pt"), 0, kNew);
  EXPECT_NE(a.temporary_path(), b.temporary_path());
}

TEST(AtomicFile, ABareNameLiesInTheWorkingDirectory) {
  const TempDir dir;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  AtomicFile file("out.pt", 1, kSynced);
  file.write_at(0, as_bytes("x"));
  file.commit();
  std::filesystem::current_path(before);
  EXPECT_EQ(dir.read("out.pt"), "x");
}

TEST(AtomicFile, HasTheSizeThatWasAnnouncedWithZerosWhereNothingWasWritten) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 6, kNew);
  file.write_at(2, as_bytes("cd"));
  file.commit();
  EXPECT_EQ(dir.read("out.pt"), std::string("\0\0cd\0\0", 6));
}

TEST(AtomicFile, MayBeEmpty) {
  const TempDir dir;
  AtomicFile(dir.path("out.pt"), 0, kSynced).commit();
  EXPECT_EQ(std::filesystem::file_size(dir.path("out.pt")), 0U);
}

TEST(AtomicFile, ReservesItsSpaceBeforeAnythingIsWritten) {
  const TempDir dir;
  const AtomicFile file(dir.path("out.pt"), 1 << 20, kNew);
  struct stat status;
  ASSERT_EQ(::stat(file.temporary_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 1 << 20);
  EXPECT_GE(status.st_blocks * 512, 1 << 20);
}

TEST(AtomicFile, HasTheModeThatTheUmaskLeaves) {
  const TempDir dir;
  const mode_t before = ::umask(027);
  AtomicFile(dir.path("out.pt"), 0, kNew).commit();
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat(dir.path("out.pt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(AtomicFile, SeveralThreadsWriteDisjointRangesAcrossStretchesOfWriteback) {
  constexpr std::size_t kBlock = 3 << 20;
  constexpr std::size_t kSize = 130 << 20;
  const TempDir dir;
  const std::string block = sample_bytes(kBlock);
  AtomicFile file(dir.path("out.pt"), kSize, kSynced);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = kBlock * next++; at < kSize; at = kBlock * next++) {
      file.write_at(at, as_bytes(block).first(std::min(kBlock, kSize - at)));
    }
  };
  {
    const std::jthread a(work);
    const std::jthread b(work);
  }
  for (std::size_t at = 0; at < kSize; at += kBlock) {
    const std::size_t length = std::min(kBlock, kSize - at);
    ASSERT_EQ(read_back(file, at, length), std::string_view(block).substr(0, length)) << at;
  }
}

TEST(AtomicFile, ReadsBackFromTheDiskWhatWasWritten) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 6, kNew);
  file.write_at(0, as_bytes("abcdef"));
  EXPECT_EQ(read_back(file, 2, 3), "cde");
  file.drop_cache();
  EXPECT_EQ(read_back(file, 2, 3), "cde");
}

TEST(AtomicFile, ReadingBackPastTheEndIsAnInputError) {
  const TempDir dir;
  const AtomicFile file(dir.path("out.pt"), 6, kNew);
  EXPECT_EQ(error_of([&] { read_back(file, 4, 3); }).kind(), ErrorKind::input);
}

TEST(AtomicFile, WritingBeyondTheAnnouncedSizeIsABug) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 6, kNew);
  EXPECT_EQ(error_of([&] { file.write_at(5, as_bytes("ab")); }).kind(), ErrorKind::bug);
  EXPECT_EQ(error_of([&] { file.write_at(UINT64_MAX, as_bytes("ab")); }).kind(), ErrorKind::bug);
}

TEST(AtomicFile, AnExistingTargetIsRefusedAtOnceWithTheWayOut) {
  const TempDir dir;
  dir.write("out.pt", "old");
  const Error error = error_of([&] { AtomicFile(dir.path("out.pt"), 3, kNew); });
  EXPECT_EQ(error.kind(), ErrorKind::refused);
  EXPECT_STREQ(error.what(), "output already exists");
  EXPECT_EQ(error.where().path, dir.path("out.pt"));
  EXPECT_EQ(error.hint(), "pass --force to replace it");
  EXPECT_EQ(dir.names(), std::set<std::string>{"out.pt"});
}

TEST(AtomicFile, ATargetThatAppearsMeanwhileIsRefusedAtCommitAndKept) {
  const TempDir dir;
  {
    AtomicFile file(dir.path("out.pt"), 3, kNew);
    file.write_at(0, as_bytes("new"));
    dir.write("out.pt", "other");
    const Error error = error_of([&] { file.commit(); });
    EXPECT_EQ(error.kind(), ErrorKind::refused);
    EXPECT_STREQ(error.what(), "output already exists");
    EXPECT_EQ(error.hint(), "pass --force to replace it");
  }
  EXPECT_EQ(dir.read("out.pt"), "other");
  EXPECT_EQ(dir.names(), std::set<std::string>{"out.pt"});
}

TEST(AtomicFile, OfTwoWritersOfOneTargetExactlyOneWins) {
  const TempDir dir;
  AtomicFile first(dir.path("out.pt"), 1, kNew);
  AtomicFile second(dir.path("out.pt"), 1, kNew);
  first.write_at(0, as_bytes("1"));
  second.write_at(0, as_bytes("2"));
  second.commit();
  EXPECT_EQ(error_of([&] { first.commit(); }).kind(), ErrorKind::refused);
  EXPECT_EQ(dir.read("out.pt"), "2");
}

TEST(AtomicFile, ReplacesAnExistingTargetWhenAskedTo) {
  const TempDir dir;
  dir.write("out.pt", "old content");
  AtomicFile file(dir.path("out.pt"), 3, kReplace);
  file.write_at(0, as_bytes("new"));
  EXPECT_EQ(dir.read("out.pt"), "old content");
  file.commit();
  EXPECT_EQ(dir.read("out.pt"), "new");
}

TEST(AtomicFile, ReplacingALinkLeavesWhatItLedTo) {
  const TempDir dir;
  dir.write("old.pt", "old");
  dir.link("old.pt", "out.pt");
  AtomicFile file(dir.path("out.pt"), 3, kReplace);
  file.write_at(0, as_bytes("new"));
  file.commit();
  EXPECT_FALSE(std::filesystem::is_symlink(dir.path("out.pt")));
  EXPECT_EQ(dir.read("out.pt"), "new");
  EXPECT_EQ(dir.read("old.pt"), "old");
}

TEST(AtomicFile, ALinkThatLeadsNowhereIsAnExistingTarget) {
  const TempDir dir;
  dir.link("nowhere", "out.pt");
  EXPECT_EQ(error_of([&] { AtomicFile(dir.path("out.pt"), 3, kNew); }).kind(), ErrorKind::refused);
}

TEST(AtomicFile, DirectoriesAndDevicesAreRefusedEvenForReplacing) {
  const TempDir dir;
  dir.make_dir("sub");
  dir.link("sub", "linked");
  for (const std::string& target : {dir.path("sub"), dir.path("linked")}) {
    const Error error = error_of([&] { AtomicFile(target, 3, kReplace); });
    EXPECT_EQ(error.kind(), ErrorKind::refused) << target;
    EXPECT_STREQ(error.what(), "output is a directory") << target;
  }
  for (const char* target : {"/dev/null", "/dev/full"}) {
    const Error error = error_of([&] { AtomicFile(target, 3, kReplace); });
    EXPECT_EQ(error.kind(), ErrorKind::refused) << target;
    EXPECT_STREQ(error.what(), "output is not a regular file") << target;
    EXPECT_EQ(error.hint(), "") << target;
  }
}

TEST(AtomicFile, ATargetWithoutAFileNameIsRefused) {
  const TempDir dir;
  for (const std::string& target : {std::string(), dir.path("new/"), dir.path("."), dir.path("..")}) {
    EXPECT_EQ(error_of([&] { AtomicFile(target, 3, kReplace); }).kind(), ErrorKind::refused) << target;
  }
}

TEST(AtomicFile, AMissingFolderIsAnIoErrorWithTheSystemsText) {
  const TempDir dir;
  const Error error = error_of([&] { AtomicFile(dir.path("no/out.pt"), 3, kNew); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "the folder for the output does not exist");
  EXPECT_EQ(error.where().path, dir.path("no"));
}

TEST(AtomicFile, AFileInPlaceOfTheFolderIsAnIoError) {
  const TempDir dir;
  dir.write("file", "x");
  const Error error = error_of([&] { AtomicFile(dir.path("file/out.pt"), 3, kNew); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "cannot write into directory: Not a directory");
}

TEST(AtomicFile, MoreThanTheDiskHoldsIsAnIoErrorThatSaysHowMuchIsNeededAndFree) {
  const TempDir dir;
  const Error error = error_of([&] { AtomicFile(dir.path("out.pt"), std::uint64_t{1} << 60, kNew); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.what(),
              testing::MatchesRegex("not enough space: 1152921504606846976 bytes \\(1.0 EiB\\) are needed, "
                                    "[0-9]+ bytes \\([^)]*\\) are free"));
  EXPECT_TRUE(dir.names().empty());
}

TEST(AtomicFile, AFailedReservationIsAnIoErrorAndLeavesNothing) {
  const TempDir dir;
  const FileSizeLimit limit(1000);
  const Error error = error_of([&] { AtomicFile(dir.path("out.pt"), 5000, kNew); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "cannot reserve 5000 bytes: File too large");
  EXPECT_EQ(error.where().path, dir.path("out.pt"));
  EXPECT_TRUE(dir.names().empty());
}

TEST(AtomicFile, AWriteThatFailsAfterAShortOneIsAnIoError) {
  const TempDir dir;
  AtomicFile file(dir.path("out.pt"), 5000, kNew);
  const std::string text = sample_bytes(5000);
  {
    const FileSizeLimit limit(1000);
    const Error error = error_of([&] { file.write_at(0, as_bytes(text)); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "cannot write: File too large");
    EXPECT_EQ(error.where().path, dir.path("out.pt"));
  }
  EXPECT_EQ(read_back(file, 0, 1000), text.substr(0, 1000));
}

TEST(AtomicFile, WhatIsThrownBeforeTheNameIsGivenEndsTheCommit) {
  const TempDir dir;
  {
    AtomicFile file(dir.path("out.pt"), 1, kSynced);
    file.write_at(0, as_bytes("x"));
    EXPECT_THROW(file.commit([] { throw Error(ErrorKind::interrupted, "stop"); }), Error);
  }
  EXPECT_TRUE(dir.names().empty());
}

TEST(AtomicFile, AFailedCommitRemovesTheTemporary) {
  const TempDir dir;
  dir.make_dir("sub");
  {
    AtomicFile file(dir.path("sub/out.pt"), 1, kReplace);
    dir.make_dir("sub/out.pt");
    EXPECT_EQ(error_of([&] { file.commit(); }).kind(), ErrorKind::io);
  }
  EXPECT_FALSE(std::filesystem::is_empty(dir.path("sub/out.pt").substr(0, dir.path("sub").size())));
  EXPECT_TRUE(stale_temporaries(dir.path("sub/out.pt")).empty());
}

}  // namespace
}  // namespace fsdpckpt
