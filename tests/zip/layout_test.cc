#include "zip/layout.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "io/crc32.h"
#include "zip/archive_builder.h"
#include "zip/directory.h"

namespace fsdpckpt::zip {
namespace {

constexpr std::uint64_t kLargest32 = 0xfffffffe;

/// The whole archive with payloads of zeros.
std::string write(const Layout& layout) {
  std::string bytes(layout.directory_offset(), '\0');
  std::vector<std::uint32_t> crcs;
  for (std::uint32_t i = 0; i < layout.records().size(); ++i) {
    const PlannedRecord& record = layout.records()[i];
    crcs.push_back(crc32(as_bytes(std::string(record.size, '\0'))));
    bytes.replace(record.header, record.data - record.header, layout.local_header(i, crcs.back()));
  }
  return bytes + layout.directory(crcs);
}

LocalBytes local(const Layout& layout, std::uint32_t record) {
  return load_le<LocalBytes>(as_bytes(layout.local_header(record, 7)).data());
}

/// The last central entry and its extra field.
struct LastEntry {
  CentralBytes fixed;
  std::string extra;
};

LastEntry last_entry(const Layout& layout) {
  const std::string bytes = layout.directory(std::vector<std::uint32_t>(layout.records().size(), 7));
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const auto fixed = load_le<CentralBytes>(as_bytes(bytes).data() + at);
    const std::size_t extra = at + sizeof fixed + fixed.name_length;
    if (i + 1 == layout.records().size()) return {fixed, bytes.substr(extra, fixed.extra_length)};
    at = extra + fixed.extra_length;
  }
}

bool has_zip64_end(const Layout& layout) {
  const std::string bytes = layout.directory(std::vector<std::uint32_t>(layout.records().size()));
  const std::size_t tail = sizeof(Zip64EndBytes) + sizeof(LocatorBytes) + sizeof(EndBytes);
  if (bytes.size() < tail) return false;
  return load_le<std::uint32_t>(as_bytes(bytes).data() + bytes.size() - tail) == kZip64EndSignature;
}

TEST(Layout, IsReadBackByDirectory) {
  Layout layout;
  layout.add("archive/data.pkl", 100, 1);
  layout.add("archive/data/0", 5000, 4096);
  layout.add("archive/data/1", 0, 64);
  layout.add("archive/version", 2, 1);
  const std::string bytes = write(layout);
  EXPECT_EQ(bytes.size(), layout.file_size());
  Directory directory;
  directory.read(MemorySource(as_bytes(bytes)));
  ASSERT_EQ(directory.records().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(directory.records()[i].name, layout.records()[i].name);
    EXPECT_EQ(directory.records()[i].header, layout.records()[i].header);
    EXPECT_EQ(directory.records()[i].data, layout.records()[i].data);
    EXPECT_EQ(directory.records()[i].size, layout.records()[i].size);
  }
}

TEST(Layout, StartsWithTheFirstLocalHeader) {
  Layout layout;
  EXPECT_EQ(layout.add("archive/data.pkl", 3, 1), 0U);
  EXPECT_EQ(layout.add("archive/version", 2, 1), 1U);
  EXPECT_EQ(layout.records()[0].header, 0U);
  EXPECT_EQ(layout.records()[0].data, 30U + 16U);
  EXPECT_EQ(layout.records()[1].header, 49U);
  EXPECT_EQ(layout.directory_offset(), 49U + 30U + 15U + 2U);
}

class Alignment : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Alignment, IsThatOfEachPayloadWhateverComesBeforeIt) {
  Layout layout;
  for (std::uint64_t size = 0; size < 300; ++size) {
    const std::uint32_t index = layout.add("archive/data/" + std::to_string(size), size, GetParam());
    const PlannedRecord& record = layout.records()[index];
    EXPECT_EQ(record.data % GetParam(), 0U);
    EXPECT_EQ(layout.local_header(index, 0).size(), record.data - record.header);
  }
  Directory directory;
  const std::string bytes = write(layout);
  EXPECT_NO_THROW(directory.read(MemorySource(as_bytes(bytes))));
}

INSTANTIATE_TEST_SUITE_P(All, Alignment, testing::Values(1, 2, 8, 64, 4096, 32768));

TEST(Layout, PadsWithOneExtraFieldFilledWithZ) {
  Layout layout;
  layout.add("archive/a", 1, 64);
  EXPECT_EQ(layout.local_header(0, 0).substr(39), extra_field(kPaddingExtra, std::string(64 - 39 - 4, 'Z')));
}

TEST(Layout, WritesAPaddingFieldOfNoLengthWhereNoneIsNeeded) {
  Layout layout;
  layout.add("archive/" + std::string(64 - 30 - 8 - 4, 'n'), 1, 64);
  EXPECT_EQ(layout.records()[0].data, 64U);
  EXPECT_EQ(layout.local_header(0, 0).substr(60), extra_field(kPaddingExtra, ""));
}

TEST(Layout, WritesNoExtraFieldWithoutAlignment) {
  Layout layout;
  layout.add("archive/a", 1, 1);
  EXPECT_EQ(local(layout, 0).extra_length, 0);
}

TEST(Layout, PutsRealSizesAndChecksumIntoBothHeaders) {
  Layout layout;
  layout.add("archive/a", 1234, 64);
  EXPECT_EQ(local(layout, 0).size, 1234U);
  EXPECT_EQ(local(layout, 0).stored_size, 1234U);
  EXPECT_EQ(local(layout, 0).crc, 7U);
  EXPECT_EQ(last_entry(layout).fixed.size, 1234U);
  EXPECT_EQ(last_entry(layout).fixed.stored_size, 1234U);
  EXPECT_EQ(last_entry(layout).fixed.crc, 7U);
}

TEST(Layout, WritesPlainHeadersWithoutFlags) {
  Layout layout;
  layout.add("archive/a", 1, 64);
  EXPECT_EQ(local(layout, 0).flags, 0);
  EXPECT_EQ(local(layout, 0).method, kMethodStored);
  EXPECT_EQ(local(layout, 0).version_needed, 20);
  EXPECT_EQ(local(layout, 0).date, 0x21);
  EXPECT_EQ(last_entry(layout).fixed.flags, 0);
  EXPECT_EQ(last_entry(layout).fixed.version_needed, 20);
  EXPECT_EQ(last_entry(layout).fixed.date, 0x21);
}

TEST(Layout, KeepsTheLargest32BitSizeIn32Bits) {
  Layout layout;
  layout.add("archive/a", kLargest32, 1);
  EXPECT_EQ(local(layout, 0).size, kLargest32);
  EXPECT_EQ(local(layout, 0).extra_length, 0);
  EXPECT_EQ(last_entry(layout).extra, "");
}

TEST(Layout, WritesZip64SizesFromTheSaturatedValueOn) {
  Layout layout;
  layout.add("archive/a", kSaturated32, 64);
  EXPECT_EQ(local(layout, 0).size, kSaturated32);
  EXPECT_EQ(local(layout, 0).stored_size, kSaturated32);
  EXPECT_EQ(local(layout, 0).version_needed, 45);
  EXPECT_EQ(layout.records()[0].data, 64U);
  const std::string extra = layout.local_header(0, 0).substr(39);
  EXPECT_EQ(extra, zip64_extra({kSaturated32, kSaturated32}) + extra_field(kPaddingExtra, "Z"));
  EXPECT_EQ(last_entry(layout).fixed.size, kSaturated32);
  EXPECT_EQ(last_entry(layout).fixed.stored_size, kSaturated32);
  EXPECT_EQ(last_entry(layout).fixed.version_needed, 45);
  EXPECT_EQ(last_entry(layout).extra, zip64_extra({kSaturated32, kSaturated32}));
}

/// A layout whose next header lies at `offset`.
Layout reaching(std::uint64_t offset) {
  Layout layout;
  layout.add("archive/a", offset - 39, 1);
  EXPECT_EQ(layout.directory_offset(), offset);
  return layout;
}

TEST(Layout, KeepsTheLargest32BitOffsetIn32Bits) {
  Layout layout = reaching(kLargest32);
  layout.add("archive/b", 1, 64);
  EXPECT_EQ(last_entry(layout).fixed.header_offset, kLargest32);
  EXPECT_EQ(last_entry(layout).extra, "");
}

TEST(Layout, WritesAZip64OffsetIntoTheDirectoryOnly) {
  Layout layout = reaching(kSaturated32);
  layout.add("archive/b", 1, 1);
  EXPECT_EQ(local(layout, 1).extra_length, 0);
  EXPECT_EQ(local(layout, 1).version_needed, 20);
  EXPECT_EQ(last_entry(layout).fixed.header_offset, kSaturated32);
  EXPECT_EQ(last_entry(layout).fixed.size, 1U);
  EXPECT_EQ(last_entry(layout).extra, zip64_extra({kSaturated32}));
}

TEST(Layout, WritesSizesBeforeTheOffsetInZip64) {
  Layout layout = reaching(0x100000000);
  layout.add("archive/b", 0x200000000, 64);
  EXPECT_EQ(last_entry(layout).extra, zip64_extra({0x200000000, 0x200000000, 0x100000000}));
}

TEST(Layout, WritesZip64EndRecordsWhenTheDirectoryStartsBeyond32Bits) {
  EXPECT_FALSE(has_zip64_end(reaching(kLargest32)));
  EXPECT_TRUE(has_zip64_end(reaching(kSaturated32)));
}

TEST(Layout, WritesZip64EndRecordsFrom65535RecordsOn) {
  Layout layout;
  for (int i = 0; i < 65534; ++i) layout.add("a/" + std::to_string(i), 0, 1);
  EXPECT_FALSE(has_zip64_end(layout));
  layout.add("a/x", 0, 1);
  EXPECT_TRUE(has_zip64_end(layout));
  const std::string bytes = write(layout);
  EXPECT_EQ(bytes.size(), layout.file_size());
  Directory directory;
  directory.read(MemorySource(as_bytes(bytes)));
  EXPECT_EQ(directory.records().size(), 65535U);
  EXPECT_EQ(directory.find("65533")->name, "a/65533");
}

TEST(Layout, SaturatesOnlyTheEndFieldsThatDoNotFit) {
  const Layout layout = reaching(kSaturated32);
  const std::string bytes = layout.directory({7});
  const auto end = load_le<EndBytes>(as_bytes(bytes).data() + bytes.size() - sizeof(EndBytes));
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.directory_size, 46U + 9U);
  EXPECT_EQ(end.directory_offset, kSaturated32);
  EXPECT_EQ(end.comment_length, 0);
}

TEST(Layout, TooLargeForAFileIsAUsageError) {
  Layout layout;
  layout.add("archive/a", INT64_MAX - 100, 1);
  expect_error(ErrorKind::usage, "too large for a file at record 'archive/b'",
               [&] { layout.add("archive/b", 100, 64); });
  expect_error(ErrorKind::usage, "too large for a file", [&] { layout.add("archive/b", UINT64_MAX, 64); });
  EXPECT_EQ(layout.records().size(), 1U);
}

TEST(Layout, RefusesNamesThatNeedAFlagOrDoNotFit) {
  Layout layout;
  for (const std::string& name : {std::string(), std::string("archive/\xc3\xa9"), std::string(65536, 'n')}) {
    expect_error(ErrorKind::bug, "no name for a zip record", [&] { layout.add(name, 1, 1); });
  }
}

TEST(Layout, RefusesAlignmentsThatAPaddingFieldCannotGive) {
  Layout layout;
  for (const std::uint32_t alignment : {0U, 3U, 65536U}) {
    expect_error(ErrorKind::bug, "no alignment for a zip record", [&] { layout.add("archive/a", 1, alignment); });
  }
}

TEST(Layout, WantsOneChecksumForEachRecord) {
  Layout layout;
  layout.add("archive/a", 1, 1);
  expect_error(ErrorKind::bug, "not one checksum for each zip record", [&] { (void)layout.directory({}); });
}

}  // namespace
}  // namespace fsdpckpt::zip
