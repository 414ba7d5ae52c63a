#include "zip/local_header.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "zip/archive_builder.h"

namespace fsdpckpt::zip {
namespace {

constexpr std::uint16_t kTorchFlags = kFlagDescriptor | kFlagUtf8;

Archive small() { return make_archive(small_members()); }

TEST(LocalHeader, WithAnotherNameIsRefused) {
  Archive archive = small();
  archive.bytes[archive.local_at[1] + sizeof(LocalBytes)] = 'A';
  expect_refused(archive, "zip record 'archive/data/0' has another name in its local header");
}

TEST(LocalHeader, WithALongerNameIsRefused) {
  Archive archive = small();
  archive.local(1).name_length += 1;
  expect_refused(archive, "zip record 'archive/data/0' has another name in its local header");
}

TEST(LocalHeader, WithOtherFlagsIsRefused) {
  Archive archive = small();
  archive.local(1).flags = kFlagUtf8;
  expect_refused(archive, "'archive/data/0' has other flags or another method in its local header");
}

TEST(LocalHeader, WithAnotherMethodIsRefused) {
  Archive archive = small();
  archive.local(1).method = 8;
  expect_refused(archive, "'archive/data/0' has other flags or another method in its local header");
}

TEST(LocalHeader, WithAnotherSizeIsRefused) {
  Archive archive = small();
  archive.local(1).size = 41;
  expect_refused(archive, "'archive/data/0' has 40 bytes in the directory and 41 (stored 40) in its local header");
  archive = small();
  archive.local(1).stored_size = 39;
  expect_refused(archive, "'archive/data/0' has 40 bytes in the directory and 40 (stored 39) in its local header");
}

TEST(LocalHeader, WithAnotherChecksumIsRefused) {
  Archive archive = small();
  archive.local(1).crc ^= 1;
  expect_refused(archive, "'archive/data/0' has another checksum in its local header");
}

TEST(LocalHeader, MayLeaveSizesAndChecksumToADescriptor) {
  expect_read(make_zip64_archive({{"archive/a", "1234", kTorchFlags, extra_field(kPaddingExtra, "ZZZ")}}));
}

TEST(LocalHeader, MayHaveSizesAlthoughADescriptorFollows) {
  Archive archive = make_archive({{"archive/a", "1234", kTorchFlags}});
  archive.local(0).size = archive.local(0).stored_size = 4;
  expect_read(archive);
}

TEST(LocalHeader, WithoutSizesAndWithoutDescriptorIsRefused) {
  Archive archive = small();
  archive.local(1).size = archive.local(1).stored_size = 0;
  expect_refused(archive, "'archive/data/0' has 40 bytes in the directory and 0 (stored 0) in its local header");
}

TEST(LocalHeader, MayLeaveTheChecksumToTheDirectory) {
  Archive archive = small();
  archive.local(1).crc = 0;
  expect_read(archive);
}

TEST(LocalHeader, MayHaveItsSizesInAZip64Extra) {
  const std::string extra = extra_field(0x5455, "1") + zip64_extra({4, 4});
  Archive archive = make_archive({{"archive/a", "1234", 0, extra}});
  archive.local(0).size = archive.local(0).stored_size = kSaturated32;
  expect_read(archive);
}

TEST(LocalHeader, WithOtherSizesInItsZip64ExtraIsRefused) {
  Archive archive = make_archive({{"archive/a", "1234", 0, zip64_extra({4, 5})}});
  archive.local(0).size = archive.local(0).stored_size = kSaturated32;
  expect_refused(archive, "'archive/a' has 4 bytes in the directory and 4 (stored 5) in its local header");
}

TEST(LocalHeader, SaturatedWithoutZip64ExtraIsRefused) {
  Archive archive = small();
  archive.local(1).size = archive.local(1).stored_size = kSaturated32;
  expect_refused(archive, "'archive/data/0' needs a zip64 extra field and has none");
}

TEST(LocalHeader, MayHaveZeroSizesInItsZip64ExtraWhenADescriptorFollows) {
  Archive archive = make_archive({{"archive/a", "1234", kFlagDescriptor, zip64_extra({0, 0})}});
  archive.local(0).size = archive.local(0).stored_size = kSaturated32;
  expect_read(archive);
}

TEST(LocalHeader, MayHaveTorchsZip64ExtraThatHoldsAnOffset) {
  expect_read(make_zip64_archive({{"archive/a", "1234", kTorchFlags, zip64_extra({0x100000000})},
                                  {"archive/b", "1", kTorchFlags, zip64_extra({0x100000040})}}));
}

TEST(LocalHeader, WithAZip64ExtraHasALongDescriptor) {
  // The second record starts 16 bytes behind the payload of the first, where a short descriptor would end.
  Archive archive = make_archive({{"archive/a", "1234", kFlagDescriptor, zip64_extra({0})}, {"archive/b", "1"}});
  archive.bytes.erase(archive.local_at[1] - 8, 8);
  archive.central_at[1] -= 8;
  archive.central(1).header_offset -= 8;
  archive.end_at -= 8;
  archive.end().directory_offset -= 8;
  expect_refused(archive, "the descriptor behind zip record 'archive/a' disagrees with the directory");
}

/// Signature, checksum, stored size and size of both kinds of descriptor, each with one bit flipped.
TEST(LocalHeader, WithADescriptorThatDisagreesIsRefused) {
  const Archive narrow = make_archive({{"archive/a", "1234", kTorchFlags}});
  const Archive wide = make_archive({{"archive/a", "1234", kTorchFlags, zip64_extra({0, 0})}});
  for (const auto& [good, size] : {std::pair(narrow, sizeof(Descriptor32Bytes)), {wide, sizeof(Descriptor64Bytes)}}) {
    expect_read(good);
    for (std::size_t byte = 0; byte < size; ++byte) {
      Archive archive = good;
      archive.bytes[archive.central_at[0] - size + byte] ^= 1;
      expect_refused(archive, "the descriptor behind zip record 'archive/a' disagrees with the directory");
    }
  }
}

TEST(LocalHeader, ElsewhereIsRefused) {
  Archive archive = small();
  archive.central(1).header_offset += 1;
  expect_refused(archive, "no local header of zip record 'archive/data/0' where the directory says");
}

TEST(LocalHeader, BehindTheRecordsIsRefused) {
  for (const std::size_t at : {small().central_at[0] - 8, small().central_at[0], small().bytes.size() + 100}) {
    Archive archive = small();
    archive.central(1).header_offset = static_cast<std::uint32_t>(at);
    expect_refused(archive, "'archive/data/0' reaches into the directory or beyond it");
  }
}

TEST(LocalHeader, WhoseExtraFieldsReachTheDirectoryIsRefused) {
  Archive archive = small();
  archive.local(2).extra_length = 0xffff;
  expect_refused(archive, "'archive/version' reaches into the directory or beyond it");
}

TEST(LocalHeader, WhosePayloadReachesTheDirectoryIsRefused) {
  Archive archive = small();
  archive.local(2).size = archive.local(2).stored_size = archive.central(2).size = archive.central(2).stored_size = 3;
  expect_refused(archive, "'archive/version' reaches into the directory or beyond it");
}

TEST(LocalHeader, WhoseDescriptorReachesTheDirectoryIsRefused) {
  Archive archive = small();
  archive.local(2).flags = archive.central(2).flags = kFlagDescriptor;
  expect_refused(archive, "'archive/version' reaches into the directory or beyond it");
}

TEST(LocalHeader, MayHaveTheLongestName) { expect_read(make_archive({{"archive/" + std::string(65527, 'n'), "1"}})); }

}  // namespace
}  // namespace fsdpckpt::zip
