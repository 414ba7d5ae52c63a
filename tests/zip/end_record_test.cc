#include "zip/end_record.h"

#include <gtest/gtest.h>

#include "zip/archive_builder.h"
#include "zip/directory.h"

namespace fsdpckpt::zip {
namespace {

Archive plain() { return make_archive(small_members()); }
Archive zip64() { return make_zip64_archive(small_members()); }

TEST(EndRecord, IsReadWithAndWithoutZip64) {
  expect_read(plain());
  expect_read(zip64());
}

TEST(EndRecord, MayBeSaturatedWhereThereIsZip64) {
  Archive archive = zip64();
  archive.end().count = archive.end().count_on_disk = kSaturated16;
  archive.end().directory_offset = archive.end().directory_size = kSaturated32;
  expect_read(archive);
}

TEST(EndRecord, TooShortIsRefused) {
  expect_refused({"", {}, {}}, "too short for a zip archive: 0 bytes");
  expect_refused({"PK\3\4", {}, {}}, "too short for a zip archive: 4 bytes");
}

TEST(EndRecord, AbsentIsRefused) {
  expect_refused({std::string(1000, 'x'), {}, {}}, "no zip end record at the end");
  Archive archive = plain();
  archive.bytes.pop_back();
  expect_refused(archive, "no zip end record at the end");
}

TEST(EndRecord, FollowedByOtherBytesIsRefused) {
  Archive archive = plain();
  archive.bytes += "x";
  expect_refused(archive, "followed by other bytes");
}

TEST(EndRecord, WithACommentIsRefused) {
  Archive archive = plain();
  archive.end().comment_length = 5;
  archive.bytes += "hello";
  expect_refused(archive, "has a comment");
}

TEST(EndRecord, WithACommentThatIsNotThereIsRefused) {
  Archive archive = plain();
  archive.end().comment_length = 5;
  expect_refused(archive, "announces a comment");
}

TEST(EndRecord, InTheCommentOfAnotherIsRefused) {
  Archive archive = plain();
  const std::string second = archive.bytes.substr(archive.end_at);
  archive.end().comment_length = static_cast<std::uint16_t>(second.size());
  archive.bytes += second;
  expect_refused(archive, "does not end where the end records start");
}

TEST(EndRecord, OfTwoArchivesInARowIsRefused) {
  Archive archive = zip64();
  archive.bytes += archive.bytes;
  expect_refused(archive, "the zip64 locator does not point to the record in front of it");
  archive = plain();
  archive.bytes += archive.bytes;
  expect_refused(archive, "does not end where the end records start");
}

TEST(EndRecord, OfSeveralDisksIsRefused) {
  Archive archive = plain();
  archive.end().disk = 1;
  expect_refused(archive, "one part of several");
  archive = plain();
  archive.end().count_on_disk = 2;
  expect_refused(archive, "one part of several");
  archive = zip64();
  archive.locator().disks = 2;
  expect_refused(archive, "one part of several");
  archive = zip64();
  archive.zip64_end().directory_disk = 1;
  expect_refused(archive, "one part of several");
}

TEST(EndRecord, SaturatedWithoutZip64IsRefused) {
  Archive archive = plain();
  archive.end().directory_offset = kSaturated32;
  expect_refused(archive, "needs a zip64 end record and there is none");
}

TEST(EndRecord, ThatDisagreesWithZip64IsRefused) {
  Archive archive = zip64();
  archive.end().count = archive.end().count_on_disk = 2;
  expect_refused(archive, "disagree about the number of records: 2 and 3");
  archive = zip64();
  archive.end().directory_offset -= 1;
  expect_refused(archive, "disagree about the offset of the directory");
  archive = zip64();
  archive.zip64_end().directory_size += 1;
  expect_refused(archive, "disagree about the size of the directory");
}

TEST(EndRecord, OfZip64MustBeWhereTheLocatorPointsTo) {
  Archive archive = zip64();
  archive.zip64_end().signature = 0;
  expect_refused(archive, "no zip64 end record where the locator points to");
  archive = zip64();
  archive.locator().zip64_end_offset += 1;
  expect_refused(archive, "the zip64 locator does not point to the record in front of it");
}

TEST(EndRecord, OfZip64MustHaveItsUsualSize) {
  Archive archive = zip64();
  archive.zip64_end().record_size = 45;
  expect_refused(archive, "the zip64 end record has an unknown size");
}

TEST(EndRecord, WithALocatorAndNoRoomForZip64IsRefused) {
  Archive archive = zip64();
  archive.bytes.erase(0, archive.zip64_end_at + 10);
  expect_refused(archive, "the zip64 locator does not point to the record in front of it");
}

TEST(EndRecord, WhoseDirectoryLiesElsewhereIsRefused) {
  Archive archive = plain();
  archive.end().directory_offset = 0xfffffffe;
  expect_refused(archive, "does not end where the end records start");
  archive = plain();
  archive.end().directory_size -= 1;
  expect_refused(archive, "does not end where the end records start");
}

TEST(EndRecord, WhoseDirectoryWrapsAroundIsRefused) {
  Archive archive = zip64();
  archive.end().directory_offset = archive.end().directory_size = kSaturated32;
  archive.zip64_end().directory_offset = UINT64_MAX - 7;
  archive.zip64_end().directory_size = archive.zip64_end_at + 8;
  expect_refused(archive, "does not end where the end records start");
}

TEST(EndRecord, WithMoreRecordsThanTheDirectoryHoldsIsRefused) {
  Archive archive = zip64();
  archive.end().count = archive.end().count_on_disk = kSaturated16;
  archive.zip64_end().count = archive.zip64_end().count_on_disk = UINT64_MAX;
  expect_refused(archive, "the zip directory has an impossible size");
  archive = plain();
  archive.end().count = archive.end().count_on_disk = 4;
  expect_refused(archive, "the zip directory has an impossible size: 4 records in 183 bytes");
  archive = make_archive({{"archive/" + std::string(100, 'n'), "1"}});
  archive.end().count = archive.end().count_on_disk = 2;
  expect_refused(archive, "the zip directory ends inside an entry");
}

TEST(EndRecord, WithFewerRecordsThanTheDirectoryHoldsIsRefused) {
  Archive archive = plain();
  archive.end().count = archive.end().count_on_disk = 2;
  expect_refused(archive, "the zip directory goes on behind its last entry");
}

TEST(EndRecord, OfAnEmptyArchiveIsRefused) { expect_refused(make_archive({}), "the zip archive has no records"); }

/// Zeros everywhere but in the end records, which announce a huge directory.
class HugeDirectory final : public Source {
 public:
  HugeDirectory() : tail_(make_zip64_archive({{"archive/a", ""}})) {
    tail_.end().directory_size = tail_.end().directory_offset = kSaturated32;
    tail_.zip64_end().directory_offset = 0;
    tail_.zip64_end().directory_size = kDirectory;
    tail_.locator().zip64_end_offset = kDirectory;
    tail_.bytes.erase(0, tail_.zip64_end_at);
  }
  [[nodiscard]] std::uint64_t size() const override { return kDirectory + tail_.bytes.size(); }
  void read_at(std::uint64_t offset, MutableBytes out) const override {
    ASSERT_EQ(offset, kDirectory) << "the directory must not be read";
    std::memcpy(out.data(), tail_.bytes.data(), out.size());
  }
  [[nodiscard]] std::string name() const override { return "huge"; }

 private:
  static constexpr std::uint64_t kDirectory = std::uint64_t{1} << 40;
  Archive tail_;
};

TEST(EndRecord, CannotMakeUsAllocateATerabyte) {
  Directory directory;
  expect_error(ErrorKind::input, "the zip directory has an impossible size: 1 records in 1099511627776 bytes",
               [&] { directory.read(HugeDirectory()); });
}

}  // namespace
}  // namespace fsdpckpt::zip
