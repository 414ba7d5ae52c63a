#include "dist/world_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dist/agreement.h"
#include "dist/thread_world.h"
#include "io/file_set.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three hosts with a disk each: `a` on the first and the last, `b` on the second, `c` on the third in a folder of its
/// own.
class WorldFilesTest : public ::testing::Test {
 protected:
  WorldFilesTest() {
    put(0, "a", "aaaa");
    put(1, "b", "bb");
    put(2, "a", "aaaa");
    put(2, "c", "cccccc");
  }

  void put(std::size_t host, const std::string& name, const std::string& content) const {
    std::ofstream(hosts_[host].path(name), std::ios::binary) << content;
  }

  /// Runs `use` on each host's view of the shared files.
  std::vector<std::exception_ptr> share(const std::function<void(FileSet&, Communicator&)>& use) const {
    return test::run_world(3, [&](Communicator& world) {
      WorldFiles shared(world);
      FileSet files(hosts_[static_cast<std::size_t>(world.rank())].path(), {}, &shared);
      use(files, world);
    });
  }

  TempDir hosts_[3];
};

void expect_no_errors(const std::vector<std::exception_ptr>& errors) {
  for (const auto& thrown : errors) {
    if (thrown) ADD_FAILURE() << as_error(thrown).what();
  }
}

TEST_F(WorldFilesTest, AllRanksSeeTheFilesOfAllHosts) {
  expect_no_errors(share([](FileSet& files, Communicator&) {
    if (files.list() != std::vector<std::string>{"a", "b", "c"}) throw Error(ErrorKind::bug, "another list");
  }));
}

TEST_F(WorldFilesTest, AllRanksReadWhatOneHostHas) {
  expect_no_errors(share([](FileSet& files, Communicator&) {
    const FileId file = files.add("b"), other = files.add("c");
    std::string text(2, ' '), part(3, ' ');
    files.read_at(file, 0, std::as_writable_bytes(std::span(text)));
    files.read_at(other, 2, std::as_writable_bytes(std::span(part)));
    if (text != "bb" || part != "ccc" || files.size(other) != 6) throw Error(ErrorKind::bug, "other bytes");
  }));
}

TEST_F(WorldFilesTest, TheHoldersAreKnownWhenSharingHasEnded) {
  expect_no_errors(share([](FileSet& files, Communicator& world) {
    const FileId a = files.add("a"), b = files.add("b"), missing = files.add("d");
    const bool exists = files.exists(a) && files.exists(b) && !files.exists(missing);
    files.end_sharing();
    if (!exists || files.holders(a) != std::vector<bool>{true, false, true} || !files.holders(missing).empty() ||
        files.exists(b) != (world.rank() == 1))
      throw Error(ErrorKind::bug, "other holders");
  }));
}

TEST_F(WorldFilesTest, AMissingFileIsMissingForAll) {
  for (const auto& thrown :
       share([](FileSet&files, Communicator&) { static_cast<void>(files.size(files.add("d"))); })) {
    ASSERT_TRUE(thrown);
    EXPECT_STREQ(as_error(thrown).what(), "file is missing");
  }
}

TEST_F(WorldFilesTest, CopiesOfTwoSizesAreRefusedByAll) {
  put(1, "a", "aaa");
  for (const auto& thrown :
       share([](FileSet&files, Communicator&) { static_cast<void>(files.size(files.add("a"))); })) {
    ASSERT_TRUE(thrown);
    EXPECT_THAT(as_error(thrown).what(), HasSubstr("has 4 bytes on one rank and 3 on rank 1"));
  }
}

TEST_F(WorldFilesTest, ReadingBeyondTheEndIsAnErrorOnAll) {
  const auto errors = share([](FileSet& files, Communicator&) {
    std::string text(3, ' ');
    files.read_at(files.add("b"), 1, std::as_writable_bytes(std::span(text)));
  });
  for (const auto& thrown : errors) {
    ASSERT_TRUE(thrown);
    EXPECT_EQ(as_error(thrown).kind(), ErrorKind::input);
  }
}

TEST_F(WorldFilesTest, ADirectoryMayBeMissingOnSomeHosts) {
  expect_no_errors(test::run_world(2, [&](Communicator& world) {
    WorldFiles shared(world);
    FileSet files(world.rank() == 0 ? hosts_[0].path() + "/nowhere" : hosts_[1].path(), {}, &shared);
    std::string text(2, ' ');
    files.read_at(files.add("b"), 0, std::as_writable_bytes(std::span(text)));
    if (text != "bb" || files.list() != std::vector<std::string>{"b"}) throw Error(ErrorKind::bug, "other bytes");
  }));
}

}  // namespace
}  // namespace fsdpckpt
