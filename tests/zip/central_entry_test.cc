#include "zip/central_entry.h"

#include <gtest/gtest.h>

#include "zip/archive_builder.h"
#include "zip/directory.h"

namespace fsdpckpt::zip {
namespace {

Archive small() { return make_archive(small_members()); }

/// One record of which the directory says that all three values are in `extra`.
Archive saturated(const std::string& extra) {
  Archive archive = make_archive({{"archive/a", "1234", 0, {}, extra}});
  archive.central(0).size = archive.central(0).stored_size = archive.central(0).header_offset = kSaturated32;
  return archive;
}

TEST(CentralEntry, EncryptedIsRefused) {
  Archive archive = small();
  archive.local(1).flags = archive.central(1).flags = kFlagEncrypted;
  expect_refused(archive, "zip record 'archive/data/0' is encrypted");
}

TEST(CentralEntry, WithUnknownFlagsIsRefused) {
  for (int bit = 1; bit < 16; ++bit) {
    if (bit == 3 || bit == 11) continue;
    Archive archive = small();
    archive.local(1).flags = archive.central(1).flags = static_cast<std::uint16_t>(1U << bit);
    expect_refused(archive, "zip record 'archive/data/0' has unknown flags");
  }
}

TEST(CentralEntry, DeflatedIsRefused) {
  Archive archive = small();
  archive.local(0).method = archive.central(0).method = 8;
  expect_refused(archive, "zip record 'archive/data.pkl' is compressed (method 8), expected a stored one");
}

TEST(CentralEntry, WithTwoDifferentSizesIsRefused) {
  Archive archive = small();
  archive.central(1).size = 4000;
  expect_refused(archive, "'archive/data/0' is stored, but its two sizes differ: 4000 and 40");
}

TEST(CentralEntry, OnAnotherDiskIsRefused) {
  Archive archive = small();
  archive.central(1).disk = 1;
  expect_refused(archive, "'archive/data/0' is on another disk");
}

TEST(CentralEntry, WithoutItsSignatureIsRefused) {
  Archive archive = small();
  archive.central(1).signature = 0;
  expect_refused(archive, "no zip directory entry where one is expected");
}

TEST(CentralEntry, ThatLeavesTheDirectoryIsRefused) {
  Archive archive = small();
  archive.central(2).name_length = 0xffff;
  expect_refused(archive, "the zip directory ends inside an entry");
}

TEST(CentralEntry, HasItsNameEscapedInMessages) {
  Archive archive = make_archive({{"archive/\x1b[31m", "1"}});
  archive.local(0).method = archive.central(0).method = 8;
  expect_refused(archive, "'archive/\\x1b[31m'");
}

TEST(CentralEntry, TakesSaturatedValuesFromZip64) {
  const Archive archive = saturated(zip64_extra({4, 4, 0}));
  Directory directory;
  directory.read(MemorySource(as_bytes(archive.bytes)));
  EXPECT_EQ(directory.records()[0].size, 4U);
  EXPECT_EQ(directory.records()[0].header, 0U);
}

TEST(CentralEntry, TakesJustTheOffsetFromZip64WhenOnlyThatIsSaturated) {
  Archive archive = make_archive({{"archive/a", "1"}, {"archive/b", "2", 0, {}, zip64_extra({40})}});
  ASSERT_EQ(archive.local_at[1], 40U);
  archive.central(1).header_offset = kSaturated32;
  expect_read(archive);
}

TEST(CentralEntry, IgnoresZip64WhenNothingIsSaturated) {
  expect_read(make_archive({{"archive/a", "1", 0, {}, zip64_extra({77, 77})}}));
}

TEST(CentralEntry, SaturatedWithoutZip64IsRefused) {
  expect_refused(saturated(""), "'archive/a' needs a zip64 extra field and has none");
  expect_refused(saturated(extra_field(0x5455, "12345")), "'archive/a' needs a zip64 extra field and has none");
}

TEST(CentralEntry, WithTooShortAZip64ExtraIsRefused) {
  expect_refused(saturated(zip64_extra({4, 4})), "the zip64 extra field of zip record 'archive/a' is too short");
  expect_refused(saturated(extra_field(kZip64Extra, "1234567")), "is too short");
}

TEST(CentralEntry, WithACutExtraFieldIsRefused) {
  expect_refused(saturated(zip64_extra({4, 4, 0}).substr(0, 27)), "an extra field of the zip header is cut short");
  expect_refused(saturated(zip64_extra({4, 4, 0}) + "xyz"), "an extra field of the zip header is cut short");
}

TEST(CentralEntry, WithTwoZip64ExtrasIsRefused) {
  expect_refused(saturated(zip64_extra({4, 4, 0}) + zip64_extra({4, 4, 0})), "two extra fields with id 1");
}

TEST(CentralEntry, WhoseSizeWrapsAroundIsRefused) {
  expect_refused(saturated(zip64_extra({UINT64_MAX, UINT64_MAX, 0})), "has 18446744073709551615 bytes");
  expect_refused(saturated(zip64_extra({4, 4, UINT64_MAX})), "reaches into the directory or beyond it");
}

}  // namespace
}  // namespace fsdpckpt::zip
