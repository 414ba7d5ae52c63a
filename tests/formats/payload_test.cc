#include "formats/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "formats/item_builder.h"
#include "io/crc32.h"
#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

using Numbers = std::vector<std::int64_t>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Numbers kShape = {2, 3}, kZeros = {0, 0};
const ExpectedChunk kExpected{.name = "w", .dtype = DType::float32, .sizes = kShape, .offsets = kZeros};

Payload find(const std::string& item, const ExpectedChunk& expected = kExpected) {
  return PayloadFinder().in_archive(MemorySource(as_bytes(item)), expected);
}

Error error_of_finding(const std::string& item, const ExpectedChunk& expected = kExpected) {
  Error error = error_of([&] { find(item, expected); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  return error;
}

TEST(PayloadInArchive, IsTheTensorsStorage) {
  const std::string bytes = sample_bytes(24);
  const std::string item = tensor_item({.shape = kShape, .storage = bytes});
  const Payload payload = find(item);
  EXPECT_EQ(item.substr(payload.offset, 24), bytes);
  EXPECT_EQ(payload.storage_offset, payload.offset);
  EXPECT_EQ(payload.storage_size, 24U);
  EXPECT_EQ(payload.crc, crc32(as_bytes(bytes)));
  EXPECT_THAT(payload.strides, IsEmpty());
}

TEST(PayloadInArchive, MayBeAPartOfTheStorage) {
  const std::string item = tensor_item({.shape = kShape, .storage_offset = 2, .storage = sample_bytes(100)});
  const Payload payload = find(item);
  EXPECT_EQ(payload.offset, payload.storage_offset + 8);
  EXPECT_EQ(payload.storage_size, 100U);
}

TEST(PayloadInArchive, SaysHowElementsLie) {
  EXPECT_THAT(find(tensor_item({.shape = kShape, .strides = {1, 2}, .storage = sample_bytes(24)})).strides,
              ElementsAre(1, 2));
}

TEST(PayloadInArchive, WithoutChecksumSaysZero) {
  EXPECT_EQ(find(tensor_item({.shape = kShape, .storage = sample_bytes(24)}, false)).crc, 0U);
}

TEST(PayloadInArchive, WhosePickleIsDamagedIsRefusedAlthoughItStillMakesSense) {
  std::string item = tensor_item({.shape = kShape, .storage = sample_bytes(24)});
  const std::size_t strides = item.find("(K\3K\1t");
  ASSERT_NE(strides, std::string::npos);
  item[strides + 2] = 2;  // still inside the storage
  EXPECT_THAT(error_of_finding(item).what(), HasSubstr("'archive/data.pkl' is damaged"));
  EXPECT_THAT(find(tensor_item({.shape = kShape, .strides = {2, 1}, .storage = sample_bytes(24)})).strides,
              ElementsAre(2, 1));
}

TEST(PayloadInArchive, OfAnotherDTypeOrShapeIsRefused) {
  EXPECT_THAT(error_of_finding(tensor_item({.dtype = "int32", .shape = kShape, .storage = sample_bytes(24)})).what(),
              HasSubstr("the item holds int32, the metadata says float32"));
  EXPECT_THAT(error_of_finding(tensor_item({.shape = {3, 2}, .storage = sample_bytes(24)})).what(),
              HasSubstr("[3, 2], the metadata says [2, 3]"));
}

TEST(PayloadInArchive, OfAnotherSizeThanDeclaredIsRefused) {
  for (const std::size_t size : {20U, 28U, 0U}) {
    const std::string item = tensor_item({.shape = kShape, .storage = std::string(size, 'x'), .numel = 6});
    EXPECT_THAT(error_of_finding(item).what(), HasSubstr("the tensor's storage needs 24"));
  }
}

TEST(PayloadInArchive, WithoutItsRecordIsRefused) {
  pickle::Writer writer;
  write_test_tensor(writer, {.shape = kShape, .storage = sample_bytes(24)}, "5");
  const std::string item = make_torch_archive({writer.finish(), {sample_bytes(24)}}).bytes;
  EXPECT_THAT(error_of_finding(item).what(), HasSubstr("no record 'data/5'"));
}

TEST(PayloadInArchive, OfAnotherValueIsRefused) {
  EXPECT_THAT(error_of_finding(object_item([](pickle::Writer& writer) { writer.none(); })).what(),
              HasSubstr("something else than a tensor"));
}

TEST(PayloadInArchive, WithoutAPickleIsRefused) {
  EXPECT_THAT(error_of_finding(zip::make_archive({{"archive/version", "3\n"}}).bytes).what(), HasSubstr("data.pkl"));
}

TEST(PayloadInArchive, WithAHugePickleIsRefused) {
  const std::string item = zip::make_archive({{"archive/data.pkl", std::string(2 << 20, 'x')}}).bytes;
  EXPECT_THAT(error_of_finding(item).what(), HasSubstr("1 MiB"));
}

TEST(PayloadInArchive, LearnsFromTheItemBeforeOnlyWhatIsTheSame) {
  PayloadFinder finder;
  const std::string first = tensor_item({.shape = kShape, .storage = sample_bytes(24, 1), .location = "cuda:1"});
  const std::string second = tensor_item({.shape = kShape, .storage = sample_bytes(24, 2), .location = "cuda:1"});
  const std::string third = tensor_item({.shape = kShape, .strides = {1, 2}, .storage = sample_bytes(24, 3)});
  finder.in_archive(MemorySource(as_bytes(first)), kExpected);
  EXPECT_EQ(finder.location(), "cuda:1");
  const Payload payload = finder.in_archive(MemorySource(as_bytes(second)), kExpected);
  EXPECT_EQ(payload.crc, crc32(as_bytes(sample_bytes(24, 2))));
  EXPECT_THAT(finder.in_archive(MemorySource(as_bytes(third)), kExpected).strides, ElementsAre(1, 2));
  EXPECT_EQ(finder.location(), "cpu");
  EXPECT_EQ(error_of([&] {
              finder.in_archive(MemorySource(as_bytes(second)),
                                {.name = "w", .dtype = DType::int32, .sizes = kShape, .offsets = kZeros});
            }).kind(),
            ErrorKind::input);
}

/// Cut at any place, an item is refused, and nothing is read beyond it.
TEST(PayloadInArchive, EveryTruncationIsRefused) {
  const std::string item = tensor_item({.shape = kShape, .storage = sample_bytes(24)});
  for (std::size_t size = 0; size < item.size(); ++size) error_of_finding(item.substr(0, size));
}

std::string blob(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  store_le<std::uint64_t>(reinterpret_cast<std::byte*>(length.data()), header.size());
  return length + header + data;
}

Payload find_in_blob(const std::string& header) {
  const std::string file = "items before" + blob(header, sample_bytes(24));
  return PayloadFinder().in_safetensors(MemorySource(as_bytes(file)), 12, kExpected);
}

TEST(PayloadInSafetensors, IsWhereTheHeaderSays) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
  const Payload payload = find_in_blob(header);
  EXPECT_EQ(payload.offset, 12 + 8 + header.size());
  EXPECT_EQ(payload.storage_size, 24U);
  EXPECT_EQ(payload.crc, 0U);
}

TEST(PayloadInSafetensors, OfAnotherNameDTypeShapeOrPlaceIsRefused) {
  for (const char* header : {R"({"v":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
                             R"({"w":{"dtype":"I32","shape":[2,3],"data_offsets":[0,24]}})",
                             R"({"w":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}})",
                             R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                             R"("__metadata__":{"DCP_SHARDING_INFO":"{\"w\":{\"saved_offsets\":[2,0]}}"}})"})
    EXPECT_EQ(error_of([&] { find_in_blob(header); }).kind(), ErrorKind::input) << header;
}

}  // namespace
}  // namespace fsdpckpt
