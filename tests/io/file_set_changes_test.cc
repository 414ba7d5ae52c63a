// Which files of a set are held open, and what is said of files that change meanwhile.
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <initializer_list>
#include <random>
#include <thread>
#include <vector>

#include "base/error_of.h"
#include "io/file_set.h"
#include "io/read_range.h"
#include "io/sample_bytes.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

/// How many descriptors of this process lead into `dir`, apart from the one of the directory itself.
int open_files_in(const TempDir& dir) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    count += std::filesystem::read_symlink(entry, error).string().starts_with(dir.path() + "/") ? 1 : 0;
  }
  return count;
}

TEST(FileSet, KeepsNoMoreThanItsLimitOfFilesOpen) {
  constexpr int kFiles = 3 * kMaxOpenFiles;
  const TempDir dir;
  FileSet files(dir.path());
  for (int i = 0; i < kFiles; ++i) {
    dir.write(std::to_string(i), std::to_string(i));
    files.add(std::to_string(i));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kFiles; ++i) {
      const std::string expected = std::to_string(i);
      ASSERT_EQ(read_range(files, static_cast<FileId>(i), 0, expected.size()), expected);
    }
  }
  EXPECT_EQ(open_files_in(dir), kMaxOpenFiles);
}

TEST(FileSet, TheLeastRecentlyUsedFileIsTheOneThatIsClosed) {
  const TempDir dir;
  FileSet files(dir.path());
  for (int i = 0; i <= kMaxOpenFiles; ++i) {
    dir.write(std::to_string(i), "x");
    files.add(std::to_string(i));
  }
  for (FileId i = 0; i < kMaxOpenFiles; ++i) read_range(files, i, 0, 1);
  read_range(files, 0, 0, 1);
  read_range(files, kMaxOpenFiles, 0, 1);
  // Only what is still open can be read once the names are gone.
  dir.remove("0");
  dir.remove("1");
  EXPECT_EQ(read_range(files, 0, 0, 1), "x");
  EXPECT_EQ(error_of([&] { read_range(files, 1, 0, 1); }).kind(), ErrorKind::input);
}

TEST(FileSet, ManyThreadsReadMoreFilesThanAreKeptOpen) {
  constexpr std::size_t kFiles = kMaxOpenFiles + 20;
  const TempDir dir;
  FileSet files(dir.path());
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < kFiles; ++i) {
    contents.push_back(sample_bytes(1000 + i, static_cast<unsigned>(i)));
    dir.write(std::to_string(i), contents.back());
    files.add(std::to_string(i));
  }
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 3000; ++round) {
      const std::size_t i = random() % kFiles;
      const std::size_t offset = random() % 900;
      if (read_range(files, static_cast<FileId>(i), offset, 100) != contents[i].substr(offset, 100)) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_NO_THROW(files.check_unchanged());
}

void expect_changed(const FileSet& files, const std::string& path) {
  const Error error = error_of([&] { files.check_unchanged(); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "changed while being read");
  EXPECT_EQ(error.where().path, path);
}

TEST(FileSet, AFileThatGrewWhileItWasReadIsReported) {
  const TempDir dir;
  dir.write("a", "abc");
  FileSet files(dir.path());
  read_range(files, files.add("a"), 0, 3);
  EXPECT_NO_THROW(files.check_unchanged());
  dir.write("a", "abcdef");
  expect_changed(files, dir.path("a"));
}

TEST(FileSet, AFileThatWasReplacedByOneLikeItIsReported) {
  const TempDir dir;
  dir.write("a", "abc");
  dir.write("b", "abc");
  std::filesystem::last_write_time(dir.path("b"), std::filesystem::last_write_time(dir.path("a")));
  FileSet files(dir.path());
  read_range(files, files.add("a"), 0, 3);
  std::filesystem::rename(dir.path("b"), dir.path("a"));
  expect_changed(files, dir.path("a"));
}

TEST(FileSet, AFileThatWasRewrittenInPlaceIsReported) {
  const TempDir dir;
  dir.write("a", "abc");
  std::filesystem::last_write_time(dir.path("a"),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  FileSet files(dir.path());
  read_range(files, files.add("a"), 0, 3);
  dir.write("a", "xyz");
  expect_changed(files, dir.path("a"));
}

TEST(FileSet, AFileThatWasRemovedIsReported) {
  const TempDir dir;
  dir.write("a", "abc");
  FileSet files(dir.path());
  read_range(files, files.add("a"), 0, 3);
  dir.remove("a");
  expect_changed(files, dir.path("a"));
}

TEST(FileSet, FilesThatWereNeverOpenedMayChange) {
  const TempDir dir;
  dir.write("a", "abc");
  FileSet files(dir.path());
  EXPECT_TRUE(files.exists(files.add("a")));
  dir.write("a", "abcdef");
  EXPECT_NO_THROW(files.check_unchanged());
}

TEST(FileSet, AFileThatShrankWhileItIsOpenIsAnIoErrorWhenRead) {
  const TempDir dir;
  dir.write("a", "abcdef");
  FileSet files(dir.path());
  const FileId a = files.add("a");
  EXPECT_EQ(files.size(a), 6U);
  std::filesystem::resize_file(dir.path("a"), 3);
  const Error error = error_of([&] { read_range(files, a, 0, 6); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "changed while being read");
}

TEST(FileSet, AFileThatChangedBetweenTwoOpeningsIsAnIoErrorWhenRead) {
  const TempDir dir;
  FileSet files(dir.path());
  for (int i = 0; i <= kMaxOpenFiles; ++i) {
    dir.write(std::to_string(i), "abc");
    files.add(std::to_string(i));
  }
  for (FileId i = 0; i <= kMaxOpenFiles; ++i) read_range(files, i, 0, 1);
  dir.write("0", "abcdef");
  const Error error = error_of([&] { read_range(files, 0, 0, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "changed while being read");
}

}  // namespace
}  // namespace fsdpckpt
