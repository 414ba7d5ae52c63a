#include "io/rename.h"

#include <initializer_list>
#include <set>

#include "base/error_of.h"
#include "io/faulty_file_system.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

TEST(FolderOf, IsEverythingBeforeTheLastComponent) {
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("a"), ".");
}

TEST(RenameIntoPlace, MovesTheFile) {
  const TempDir dir;
  dir.write("from", "x");
  rename_into_place(dir.path("from"), dir.path("to"), false);
  EXPECT_EQ(dir.read("to"), "x");
  EXPECT_EQ(dir.names(), std::set<std::string>{"to"});
}

TEST(RenameIntoPlace, AnExistingFileIsRefusedAndBothAreKept) {
  const TempDir dir;
  dir.write("from", "x");
  dir.write("to", "y");
  EXPECT_EQ(error_of([&] { rename_into_place(dir.path("from"), dir.path("to"), false); }).kind(), ErrorKind::refused);
  EXPECT_EQ(dir.read("from"), "x");
  EXPECT_EQ(dir.read("to"), "y");
}

TEST(RenameIntoPlace, ReplacesWhenAskedTo) {
  const TempDir dir;
  dir.write("from", "x");
  dir.write("to", "y");
  rename_into_place(dir.path("from"), dir.path("to"), true);
  EXPECT_EQ(dir.read("to"), "x");
}

TEST(RenameIntoPlace, AFailureIsAnIoErrorWithTheSystemsText) {
  const TempDir dir;
  const Error error = error_of([&] { rename_into_place(dir.path("from"), dir.path("to"), true); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "cannot rename the finished file into place: No such file or directory");
  EXPECT_EQ(error.where().path, dir.path("to"));
}

/// As on NFS: no RENAME_NOREPLACE.
class LinkIntoPlace : public testing::TestWithParam<int> {
 protected:
  LinkIntoPlace() { dir_.write("from", "x"); }
  void move(std::map<std::string, int> lacking = {}, const Fault& fault = {}) {
    lacking["rename_new"] = GetParam();
    FaultyFileSystem files(dir_.path(), fault, lacking);
    rename_into_place(dir_.path("from"), dir_.path("to"), false, files);
  }

  TempDir dir_;
};

TEST_P(LinkIntoPlace, MovesTheFile) {
  move();
  EXPECT_EQ(dir_.read("to"), "x");
  EXPECT_EQ(dir_.names(), std::set<std::string>{"to"});
}

TEST_P(LinkIntoPlace, AnExistingFileIsRefusedAndBothAreKept) {
  dir_.write("to", "y");
  EXPECT_EQ(error_of([&] { move(); }).kind(), ErrorKind::refused);
  EXPECT_EQ(dir_.read("from"), "x");
  EXPECT_EQ(dir_.read("to"), "y");
}

TEST_P(LinkIntoPlace, ALinkWhoseAnswerWasLostIsNoExistingFile) {
  move({}, {.at = 1, .kind = Fault::Kind::fails_done, .error = EEXIST});
  EXPECT_EQ(dir_.read("to"), "x");
  EXPECT_EQ(dir_.names(), std::set<std::string>{"to"});
}

TEST_P(LinkIntoPlace, WithoutLinksEitherTheErrorSaysTheWayOut) {
  for (const int number : {EPERM, EOPNOTSUPP, ENOSYS}) {
    const Error error = error_of([&] { move({{"link", number}}); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "this file system cannot rename a file without replacing what may be there");
    EXPECT_EQ(error.where().path, dir_.path("to"));
    EXPECT_EQ(error.hint(), "pass --force: an existing output is then replaced");
    EXPECT_EQ(dir_.names(), std::set<std::string>{"from"});
  }
}

TEST_P(LinkIntoPlace, ATemporaryThatStaysIsNamed) {
  const Error error = error_of([&] { move({{"unlink", EIO}}); });
  EXPECT_STREQ(error.what(), "cannot remove temporary (the output is complete): Input/output error");
  EXPECT_EQ(error.where().path, dir_.path("from"));
  EXPECT_EQ(dir_.read("to"), "x");
}

INSTANTIATE_TEST_SUITE_P(Answers, LinkIntoPlace, testing::Values(EINVAL, ENOSYS, EOPNOTSUPP));

TEST(SyncNameOf, SyncsTheFolderOnce) {
  const TempDir dir;
  FaultyFileSystem files(dir.path());
  sync_name_of(dir.path("out.pt"), files);
  EXPECT_EQ(files.calls(), (std::vector<std::string>{"open folder", "fsync folder", "close folder"}));
}

TEST(SyncNameOf, FileSystemsThatCannotSyncAFolderAreTakenAsTheyAre) {
  const TempDir dir;
  FaultyFileSystem files(dir.path(), {}, {{"fsync folder", EINVAL}});
  EXPECT_NO_THROW(sync_name_of(dir.path("out.pt"), files));
  EXPECT_NO_THROW(sync_name_of("/proc/self/out.pt"));  // fsync gives EINVAL there
}

TEST(SyncNameOf, AnErrorSaysThatTheOutputIsComplete) {
  const TempDir dir;
  for (const char* call : {"open folder", "fsync folder"}) {
    FaultyFileSystem files(dir.path(), {}, {{call, EIO}});
    const Error error = error_of([&] { sync_name_of(dir.path("out.pt"), files); });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(),
                 "cannot sync directory (the output is complete, but may not survive a power cut): Input/output error");
    EXPECT_EQ(error.where().path, dir.path("out.pt"));
  }
}

TEST(SyncNameOf, AMissingDirectoryIsAnIoError) {
  const TempDir dir;
  EXPECT_EQ(error_of([&] { sync_name_of(dir.path("no/out.pt")); }).kind(), ErrorKind::io);
}

}  // namespace
}  // namespace fsdpckpt
