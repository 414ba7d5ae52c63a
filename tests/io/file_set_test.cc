#include "io/file_set.h"

#include <sys/stat.h>

#include <array>
#include <initializer_list>

#include "base/error_of.h"
#include "io/read_range.h"
#include "io/sample_bytes.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

using namespace std::string_literals;

TEST(FileSet, AMissingRootIsAnInputError) {
  const Error error = error_of([] { FileSet("/nonexistent/root"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "directory is missing");
  EXPECT_EQ(error.where().path, "/nonexistent/root");
}

TEST(FileSet, ARootThatIsAFileIsAnInputError) {
  const TempDir dir;
  dir.write("file", "x");
  const Error error = error_of([&] { FileSet(dir.path("file")); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "not a directory");
}

TEST(FileSet, TheSamePathGivesTheSameId) {
  const TempDir dir;
  FileSet files(dir.path());
  const FileId a = files.add("a");
  const FileId b = files.add("sub/b");
  EXPECT_NE(a, b);
  EXPECT_EQ(files.add("a"), a);
  EXPECT_EQ(files.count(), 2U);
  EXPECT_EQ(files.relative_path(b), "sub/b");
  EXPECT_EQ(files.path(b), dir.path() + "/sub/b");
  EXPECT_EQ(files.root(), dir.path());
}

TEST(FileSet, ARootWithAFinalSlashIsNotDoubled) {
  const TempDir dir;
  FileSet files(dir.path() + "/");
  EXPECT_EQ(files.path(files.add("a")), dir.path() + "/a");
}

TEST(FileSet, PathsThatLeaveTheRootAreRefused) {
  const TempDir dir;
  FileSet files(dir.path());
  for (const std::string& path : {""s, "/etc/passwd"s, ".."s, "../x"s, "a/../b"s, "a/.."s, "a\0b"s}) {
    const Error error = error_of([&] { files.add(path); });
    EXPECT_EQ(error.kind(), ErrorKind::refused) << path;
    EXPECT_EQ(error.where().path, dir.path());
  }
  EXPECT_STREQ(error_of([&] { files.add("../x"); }).what(), "file name does not stay in the directory: '../x'");
  EXPECT_EQ(files.count(), 0U);
}

TEST(FileSet, NamesWithDotsInThemAreNotParents) {
  const TempDir dir;
  dir.write("..a", "1");
  dir.write("b..", "2");
  FileSet files(dir.path());
  EXPECT_EQ(read_range(files, files.add("..a"), 0, 1), "1");
  EXPECT_EQ(read_range(files, files.add("./b.."), 0, 1), "2");
}

TEST(FileSet, ReadsAnyRangeOfAFile) {
  const TempDir dir;
  dir.write("a", "abcdef");
  FileSet files(dir.path());
  const FileId a = files.add("a");
  EXPECT_EQ(files.size(a), 6U);
  EXPECT_EQ(read_range(files, a, 0, 6), "abcdef");
  EXPECT_EQ(read_range(files, a, 2, 3), "cde");
  EXPECT_EQ(read_range(files, a, 6, 0), "");
}

TEST(FileSet, ReadingPastTheEndIsAnInputErrorThatSaysWhatIsNeeded) {
  const TempDir dir;
  dir.write("a", "abcdef");
  FileSet files(dir.path());
  const FileId a = files.add("a");
  const Error error = error_of([&] { read_range(files, a, 4, 3); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "file is too short: bytes 4..7 are needed, it has 6");
  EXPECT_EQ(error.where().path, dir.path("a"));
}

TEST(FileSet, OffsetsThatWouldWrapAreAnInputError) {
  const TempDir dir;
  dir.write("a", "abcdef");
  FileSet files(dir.path());
  const FileId a = files.add("a");
  EXPECT_EQ(error_of([&] { read_range(files, a, UINT64_MAX, 3); }).kind(), ErrorKind::input);
}

TEST(FileSet, AMissingFileIsAnInputErrorWhenItIsReadOrMeasured) {
  const TempDir dir;
  FileSet files(dir.path());
  const FileId a = files.add("a");
  EXPECT_FALSE(files.exists(a));
  const Error error = error_of([&] { read_range(files, a, 0, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "file is missing");
  EXPECT_EQ(error.where().path, dir.path("a"));
  EXPECT_EQ(error_of([&] { (void)files.size(a); }).kind(), ErrorKind::input);
}

TEST(FileSet, AFileBelowAFileOrWithAnImpossibleNameIsMissing) {
  const TempDir dir;
  dir.write("a", "x");
  FileSet files(dir.path());
  EXPECT_FALSE(files.exists(files.add("a/b")));
  EXPECT_FALSE(files.exists(files.add(std::string(5000, 'n'))));
}

TEST(FileSet, ALinkToARegularFileIsFollowedAndReported) {
  const TempDir outside;
  outside.write("blob", "content");
  const TempDir dir;
  dir.link(outside.path("blob"), "linked");
  dir.write("plain", "x");
  FileSet files(dir.path());
  const FileId plain = files.add("plain");
  const FileId linked = files.add("linked");
  EXPECT_TRUE(files.exists(linked));
  EXPECT_EQ(read_range(files, linked, 0, 7), "content");
  EXPECT_EQ(read_range(files, plain, 0, 1), "x");
  EXPECT_EQ(files.symlinked(), std::vector<FileId>{linked});
}

TEST(FileSet, ALinkThatLeadsNowhereIsAMissingFile) {
  const TempDir dir;
  dir.link("nowhere", "linked");
  FileSet files(dir.path());
  const FileId linked = files.add("linked");
  EXPECT_FALSE(files.exists(linked));
  const Error error = error_of([&] { (void)files.size(linked); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "file is missing: its symbolic link leads nowhere");
}

void expect_refused(const TempDir& dir, const std::string& name, const char* what) {
  FileSet files(dir.path());
  const FileId file = files.add(name);
  const Error error = error_of([&] { (void)files.size(file); });
  EXPECT_EQ(error.kind(), ErrorKind::refused) << name;
  EXPECT_STREQ(error.what(), what) << name;
  EXPECT_EQ(error.where().path, dir.path(name));
  EXPECT_EQ(error_of([&] { (void)files.exists(file); }).kind(), ErrorKind::refused) << name;
  EXPECT_EQ(error_of([&] { read_range(files, file, 0, 1); }).kind(), ErrorKind::refused) << name;
}

TEST(FileSet, LinksInACircleAreRefused) {
  const TempDir dir;
  dir.link("b", "a");
  dir.link("a", "b");
  expect_refused(dir, "a", "symbolic links lead in a circle");
}

TEST(FileSet, ADirectoryIsRefused) {
  const TempDir dir;
  dir.make_dir("sub");
  expect_refused(dir, "sub", "not a regular file");
}

TEST(FileSet, AFifoIsRefusedWithoutWaitingForAWriter) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  expect_refused(dir, "fifo", "not a regular file");
}

TEST(FileSet, ALinkToADeviceIsRefused) {
  const TempDir dir;
  dir.link("/dev/zero", "zero");
  expect_refused(dir, "zero", "symbolic link does not end at a regular file");
}

TEST(FileSet, AFileBehindALinkedDirectoryIsRefused) {
  const TempDir outside;
  outside.write("blob", "content");
  const TempDir dir;
  dir.link(outside.path(), "sub");
  expect_refused(dir, "sub/blob", "a directory on the way to the file is a symbolic link");
}

TEST(FileSet, ASourceIsAViewOfOneFile) {
  const TempDir dir;
  dir.write("a", "abcdef");
  FileSet files(dir.path());
  const std::unique_ptr<Source> source = files.source(files.add("a"));
  std::array<std::byte, 3> out;
  source->read_at(2, out);
  EXPECT_EQ(as_text(out), "cde");
  EXPECT_EQ(source->size(), 6U);
  EXPECT_EQ(source->name(), dir.path("a"));
}

TEST(FileSet, ListsRegularFilesAndLinksToSomeInOrder) {
  const TempDir dir;
  dir.write("b", "");
  dir.write("a", "");
  dir.write(".metadata", "");
  dir.make_dir("sub");
  dir.link("a", "c");
  dir.link("sub", "d");
  dir.link("nowhere", "e");
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  const FileSet files(dir.path());
  EXPECT_EQ(files.list(), (std::vector<std::string>{".metadata", "a", "b", "c"}));
  EXPECT_EQ(files.list().size(), 4U);  // a second listing starts at the front again
}

TEST(SpreadFileSet, FindsFilesInTheFirstDirectoryThatHasThem) {
  const TempDir a, b, c;
  a.write("1", "a1");
  b.write("1", "b1");
  b.write("2", "b2");
  c.write("2", "c2");
  c.write("3", "c3");
  FileSet files(a.path(), {b.path(), c.path()});
  EXPECT_EQ(read_range(files, files.add("1"), 0, 2), "a1");
  EXPECT_EQ(read_range(files, files.add("2"), 0, 2), "b2");
  EXPECT_EQ(read_range(files, files.add("3"), 0, 2), "c3");
  EXPECT_EQ(files.path(files.add("3")), c.path() + "/3");
  EXPECT_EQ(files.path(files.add("4")), a.path() + "/4");
  EXPECT_FALSE(files.exists(files.add("4")));
  EXPECT_EQ(files.list(), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(files.directories(), (std::vector<std::string>{a.path(), b.path(), c.path()}));
  files.check_unchanged();
}

TEST(SpreadFileSet, RefusesFilesOfOneNameAndTwoSizes) {
  const TempDir a, b;
  a.write("1", "long");
  b.write("1", "short");
  FileSet files(a.path(), {b.path()});
  const FileId file = files.add("1");
  const Error error = error_of([&] { static_cast<void>(files.size(file)); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.what(), "the file has 4 bytes here and 5 in '" + b.path() +
                              "': they belong to different checkpoints, or one was cut");
  EXPECT_EQ(error.where().path, a.path() + "/1");
}

TEST(SpreadFileSet, ConfinesEveryDirectory) {
  const TempDir a, b;
  EXPECT_EQ(error_of([&] { FileSet(a.path(), {b.path()}).add("../x"); }).kind(), ErrorKind::refused);
  std::filesystem::create_symlink("/dev/zero", b.path("1"));
  FileSet files(a.path(), {b.path()});
  const FileId file = files.add("1");
  EXPECT_EQ(error_of([&] { static_cast<void>(files.exists(file)); }).kind(), ErrorKind::refused);
  EXPECT_EQ(error_of([&] { FileSet(a.path(), {b.path("nothing")}); }).where().path, b.path("nothing"));
}

}  // namespace
}  // namespace fsdpckpt
