#include "io/rename.h"

#include <set>

#include "base/error_of.h"
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

TEST(LinkIntoPlace, MovesTheFile) {
  const TempDir dir;
  dir.write("from", "x");
  link_into_place(dir.path("from"), dir.path("to"));
  EXPECT_EQ(dir.read("to"), "x");
  EXPECT_EQ(dir.names(), std::set<std::string>{"to"});
}

TEST(LinkIntoPlace, AnExistingFileIsRefusedAndBothAreKept) {
  const TempDir dir;
  dir.write("from", "x");
  dir.write("to", "y");
  EXPECT_EQ(error_of([&] { link_into_place(dir.path("from"), dir.path("to")); }).kind(), ErrorKind::refused);
  EXPECT_EQ(dir.read("from"), "x");
  EXPECT_EQ(dir.read("to"), "y");
}

TEST(SyncFolder, SyncsADirectory) {
  const TempDir dir;
  EXPECT_NO_THROW(sync_folder(dir.path()));
}

TEST(SyncFolder, FileSystemsThatCannotSyncADirectoryAreTakenAsTheyAre) {
  EXPECT_NO_THROW(sync_folder("/proc/self"));  // fsync gives EINVAL there
}

TEST(SyncFolder, AMissingDirectoryIsAnIoError) {
  const TempDir dir;
  EXPECT_EQ(error_of([&] { sync_folder(dir.path("no")); }).kind(), ErrorKind::io);
}

}  // namespace
}  // namespace fsdpckpt
