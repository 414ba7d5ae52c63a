#include <initializer_list>

#include "base/error_of.h"
#include "io/atomic_file.h"
#include "io/output_name.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

TEST(CheckWritable, PassesWhatAtomicFileWouldCreateAndCreatesNothing) {
  const TempDir dir;
  EXPECT_NO_THROW(check_writable(dir.path("out.pt"), 1000, {}));
  EXPECT_TRUE(dir.names().empty());
}

TEST(CheckWritable, RefusesAnExistingTargetUnlessItMayBeReplaced) {
  const TempDir dir;
  dir.write("out.pt", "old");
  const Error error = error_of([&] { check_writable(dir.path("out.pt"), 1000, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::refused);
  EXPECT_STREQ(error.what(), "output already exists");
  EXPECT_NO_THROW(check_writable(dir.path("out.pt"), 1000, {.replace = true}));
}

TEST(CheckWritable, AMissingFolderIsAnIoError) {
  const TempDir dir;
  EXPECT_EQ(error_of([&] { check_writable(dir.path("no/out.pt"), 1, {}); }).kind(), ErrorKind::io);
}

TEST(CheckWritable, TooLittleSpaceIsAnIoError) {
  const TempDir dir;
  EXPECT_EQ(error_of([&] { check_writable(dir.path("out.pt"), UINT64_MAX, {}); }).kind(), ErrorKind::io);
}

TEST(CheckWritable, TooLittleSpaceNamesWhatKilledRunsLeft) {
  const TempDir dir;
  for (const char* name : {".out.pt.fsdpckpt-1-2.tmp", ".out.pt.fsdpckpt-3-4.tmp", ".other.pt.fsdpckpt-1-2.tmp"})
    dir.write(name, "");
  EXPECT_EQ(error_of([&] { check_writable(dir.path("out.pt"), UINT64_MAX, {}); }).hint(),
            "remove '.out.pt.fsdpckpt-1-2.tmp', '.out.pt.fsdpckpt-3-4.tmp' unless another run is using it");
}

TEST(StaleTemporaries, NamesOnlyTheTemporariesOfTheTarget) {
  const TempDir dir;
  for (const char* name : {".out.pt.fsdpckpt-2-3.tmp", ".out.pt.fsdpckpt-1-2.tmp", ".other.fsdpckpt-1-2.tmp", "out.pt",
                           ".out.pt.fsdpckpt-1-2.bak", ".out.pt.tmp"}) {
    dir.write(name, "");
  }
  EXPECT_EQ(stale_temporaries(dir.path("out.pt")),
            (std::vector<std::string>{".out.pt.fsdpckpt-1-2.tmp", ".out.pt.fsdpckpt-2-3.tmp"}));
}

TEST(StaleTemporaries, FindsWhatAtomicFileCreates) {
  const TempDir dir;
  const AtomicFile file(dir.path("out.pt"), 0, {.replace = false, .sync = false});
  EXPECT_EQ(stale_temporaries(dir.path("out.pt")), std::vector<std::string>{name_of(file.temporary_path())});
}

TEST(StaleTemporaries, AMissingFolderHasNone) {
  const TempDir dir;
  EXPECT_TRUE(stale_temporaries(dir.path("no/out.pt")).empty());
}

TEST(NameOf, IsTheLastComponent) {
  EXPECT_EQ(name_of("a/b.pt"), "b.pt");
  EXPECT_EQ(name_of("b.pt"), "b.pt");
  EXPECT_EQ(name_of("a/"), "");
}

}  // namespace
}  // namespace fsdpckpt
