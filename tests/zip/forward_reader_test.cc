#include "zip/forward_reader.h"

#include <gtest/gtest.h>

#include "zip/archive_builder.h"
#include "zip/directory.h"

namespace fsdpckpt::zip {
namespace {

constexpr std::uint16_t kTorchFlags = kFlagDescriptor | kFlagUtf8;

class ForwardReaderOnTorch : public testing::TestWithParam<const char*> {};

TEST_P(ForwardReaderOnTorch, SeesTheRecordsOfTheDirectoryWhenItKnowsTheirSizes) {
  const std::string bytes = read_data(GetParam());
  Directory directory;
  directory.read(MemorySource(as_bytes(bytes)));
  MemoryReader memory(as_bytes(bytes));
  ForwardReader reader(memory);
  for (const Record& record : directory.records()) {
    const auto header = reader.next();
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->name, record.name);
    EXPECT_EQ(memory.offset(), record.data);
    memory.skip(record.size);
    if (header->has_descriptor) {
      EXPECT_EQ(reader.read_descriptor(*header, record.size).crc, record.crc);
    }
  }
  EXPECT_FALSE(reader.next().has_value());
}

TEST_P(ForwardReaderOnTorch, PassesOverRecordsOfUnknownSize) {
  const std::string bytes = read_data(GetParam());
  Directory directory;
  directory.read(MemorySource(as_bytes(bytes)));
  MemoryReader memory(as_bytes(bytes));
  ForwardReader reader(memory);
  for (const Record& record : directory.records()) {
    const auto header = reader.next();
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(memory.offset(), record.data);
    reader.skip_payload(*header);
  }
  EXPECT_FALSE(reader.next().has_value());
}

INSTANTIATE_TEST_SUITE_P(Data, ForwardReaderOnTorch,
                         testing::Values("torch-2.0.1-bytes-item.pt", "torch-2.0.1-module.pt",
                                         "torch-2.4.1-containers.pt", "torch-2.13.0-layouts.pt", "torch-2.13.0-many.pt",
                                         "torch-2.13.0-tensor-item.pt"));

std::vector<std::string> names_of(const Archive& archive) {
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  std::vector<std::string> names;
  while (const auto header = reader.next()) {
    names.push_back(header->name);
    reader.skip_payload(*header);
  }
  return names;
}

void expect_forward_refused(const Archive& archive, const std::string& text) {
  expect_error(ErrorKind::input, text, [&] { names_of(archive); });
}

TEST(ForwardReader, GivesSizeAndChecksumOfAPlainRecord) {
  Archive archive = make_archive(small_members());
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  const auto header = reader.next();
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->size, 8U);
  EXPECT_EQ(header->crc, +archive.central(0).crc);
  EXPECT_FALSE(header->has_descriptor);
}

TEST(ForwardReader, StopsAtTheDirectoryForGood) {
  Archive archive = make_archive({{"archive/a", "1"}});
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  reader.skip_payload(*reader.next());
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
}

TEST(ForwardReader, TakesSizesFromZip64) {
  Archive archive = make_archive({{"archive/a", "1234", 0, zip64_extra({4, 4})}, {"archive/b", "1"}});
  archive.local(0).size = archive.local(0).stored_size = kSaturated32;
  EXPECT_EQ(names_of(archive), (std::vector<std::string>{"archive/a", "archive/b"}));
}

TEST(ForwardReader, ReadsLongDescriptorsBehindRecordsWithAZip64Extra) {
  const Archive archive =
      make_archive({{"archive/a", "1234", kTorchFlags, zip64_extra({0x100000000})}, {"archive/b", "1", kTorchFlags}});
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  const auto header = reader.next();
  EXPECT_TRUE(header->is_zip64);
  memory.skip(4);
  EXPECT_EQ(reader.read_descriptor(*header, 4).size, 4U);
  EXPECT_EQ(reader.next()->name, "archive/b");
  EXPECT_EQ(names_of(archive).size(), 2U);
}

TEST(ForwardReader, RefusesADescriptorOfAnotherSize) {
  const Archive archive = make_archive({{"archive/a", std::string("1234PK\7\x08", 8), kTorchFlags}});
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  const auto header = reader.next();
  memory.skip(8);
  expect_error(ErrorKind::input, "no descriptor of 9 bytes behind zip record 'archive/a'",
               [&] { reader.read_descriptor(*header, 9); });
}

TEST(ForwardReader, RefusesAPayloadWithoutItsDescriptor) {
  const Archive archive = make_archive({{"archive/a", "12345678", kTorchFlags}});
  MemoryReader memory(as_bytes(archive.bytes));
  ForwardReader reader(memory);
  const auto header = reader.next();
  memory.skip(4);
  expect_error(ErrorKind::input, "no descriptor of 4 bytes", [&] { reader.read_descriptor(*header, 4); });
}

TEST(ForwardReader, IsNotFooledByAPayloadThatHoldsADescriptor) {
  const Descriptor32Bytes inner{kDescriptorSignature, 0xdeadbeef, 4, 4};
  const std::string payload = "1234" + std::string(reinterpret_cast<const char*>(&inner), sizeof inner) + "more";
  EXPECT_EQ(names_of(make_archive({{"archive/a", payload, kTorchFlags}, {"archive/b", "1", kTorchFlags}})),
            (std::vector<std::string>{"archive/a", "archive/b"}));
}

TEST(ForwardReader, LooksForADescriptorWithinOneMebibyte) {
  const std::size_t limit = 1U << 20;
  EXPECT_EQ(names_of(make_archive({{"archive/a", std::string(limit, 'P'), kTorchFlags}})).size(), 1U);
  expect_forward_refused(make_archive({{"archive/a", std::string(limit + 1, 'P'), kTorchFlags}}),
                         "no descriptor within 1 MiB behind zip record 'archive/a'");
}

TEST(ForwardReader, PassesOverARecordWithSizesAndADescriptor) {
  Archive archive = make_archive({{"archive/a", "1234", kTorchFlags}, {"archive/b", "1"}});
  archive.local(0).size = archive.local(0).stored_size = 4;
  EXPECT_EQ(names_of(archive).size(), 2U);
}

TEST(ForwardReader, RefusesDeflatedEncryptedAndUnknownRecords) {
  Archive archive = make_archive(small_members());
  archive.local(1).method = 8;
  expect_forward_refused(archive, "'archive/data/0' is compressed (method 8)");
  archive.local(1).flags = kFlagEncrypted;
  expect_forward_refused(archive, "'archive/data/0' is encrypted");
  archive.local(1).flags = 0x2000;
  expect_forward_refused(archive, "'archive/data/0' has unknown flags");
}

TEST(ForwardReader, RefusesTwoDifferentSizes) {
  Archive archive = make_archive(small_members());
  archive.local(1).stored_size = 41;
  expect_forward_refused(archive, "'archive/data/0' is stored, but its two sizes differ");
}

TEST(ForwardReader, RefusesBytesThatAreNoHeader) {
  Archive archive = make_archive(small_members());
  archive.local(1).signature = 0;
  expect_forward_refused(archive, "neither a local header nor the zip directory where one is expected");
}

TEST(ForwardReader, RefusesAStreamThatEndsEarly) {
  const Archive whole = make_archive(small_members());
  for (std::size_t length = 0; length < whole.central_at[0] + 4; ++length) {
    Archive archive{whole.bytes.substr(0, length)};
    EXPECT_THROW(names_of(archive), Error) << length;
  }
}

}  // namespace
}  // namespace fsdpckpt::zip
