#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string blob(const std::string& header, std::size_t data, std::uint64_t length) {
  std::string prefix(8, '\0');
  store_le(reinterpret_cast<std::byte*>(prefix.data()), length);
  return prefix + header + std::string(data, 'd');
}

SafetensorsHeader read(const std::string& header, std::size_t data = 24) {
  const std::string bytes = blob(header, data, header.size());
  return read_safetensors_header(MemorySource(as_bytes(bytes)), 0);
}

Error error_of_reading(const std::string& header, std::size_t data = 24) {
  Error error = error_of([&] { read(header, data); });
  EXPECT_EQ(error.kind(), ErrorKind::input) << header;
  return error;
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& range) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + range + "}}";
}

TEST(Safetensors, ReadsTensors) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
    "b":{"dtype":"I64","shape":[],"data_offsets":[12,20]},"c":{"dtype":"U8","shape":[0,3],"data_offsets":[20,20]}}   )";
  const SafetensorsHeader result = read(header, 20);
  ASSERT_EQ(result.tensors.size(), 3U);
  EXPECT_EQ(result.find("a")->dtype, DType::bfloat16);
  EXPECT_THAT(result.find("a")->shape, ElementsAre(2, 3));
  EXPECT_EQ(result.find("b")->offset, 8 + header.size() + 12);
  EXPECT_EQ(result.find("b")->size, 8U);
  EXPECT_EQ(result.find("c")->size, 0U);
  EXPECT_EQ(result.find("d"), nullptr);
}

TEST(Safetensors, KnowsEveryDType) {
  for (const auto& [name, size] : {std::pair("F64", 8),
                                   {"F32", 4},
                                   {"F16", 2},
                                   {"BF16", 2},
                                   {"I64", 8},
                                   {"I32", 4},
                                   {"I16", 2},
                                   {"I8", 1},
                                   {"U8", 1},
                                   {"BOOL", 1},
                                   {"C64", 8},
                                   {"F8_E4M3", 1},
                                   {"F8_E5M2", 1},
                                   {"F8_E4M3FNUZ", 1},
                                   {"F8_E5M2FNUZ", 1},
                                   {"F8_E8M0", 1},
                                   {"U16", 2},
                                   {"U32", 4},
                                   {"U64", 8}}) {
    const std::string range = "[0," + std::to_string(2 * size) + "]";
    EXPECT_EQ(read(tensor(name, "[2]", range)).find("w")->size, static_cast<std::uint64_t>(2 * size)) << name;
  }
}

// safetensors counts values, torch packed bytes.
TEST(Safetensors, HalvesTheLastDimensionOfFloat4) {
  const SafetensorsHeader result = read(tensor("F4", "[4,4]", "[0,8]"));
  EXPECT_EQ(result.find("w")->dtype, DType::float4_e2m1fn_x2);
  EXPECT_THAT(result.find("w")->shape, ElementsAre(4, 2));
}

TEST(Safetensors, ReadsWhereChunksLie) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"__metadata__":)"
                             R"({"DCP_SHARDING_INFO":"{\"w\": {\"saved_offsets\": [4, 0]}, \"x\": {}}"}})";
  EXPECT_THAT(read(header).find("w")->saved_offsets, ElementsAre(4, 0));
}

TEST(Safetensors, ALengthThatLeavesTheFileIsRefused) {
  for (const std::uint64_t length : {std::uint64_t{27}, std::uint64_t{200'000'000}, UINT64_MAX}) {
    const std::string bytes = blob("{}", 24, length);
    const Error error = error_of([&] { read_safetensors_header(MemorySource(as_bytes(bytes)), 0); });
    EXPECT_EQ(error.kind(), ErrorKind::input) << length;
    EXPECT_THAT(error.what(), HasSubstr("leaves the file"));
  }
}

TEST(Safetensors, AFileShorterThanALengthIsRefused) {
  EXPECT_EQ(error_of([] { read_safetensors_header(MemorySource(as_bytes("abc")), 0); }).kind(), ErrorKind::input);
}

TEST(Safetensors, DataOutsideTheFileAreRefused) {
  for (const char* range : {"[0,28]", "[24,48]", "[12,0]", "[-4,20]", "[0]", "[0,8,16]", "[0,18446744073709551615]",
                            "[9223372036854775807,9223372036854775807]", "[0,1e400]"})
    error_of_reading(tensor("F32", "[6]", range));
}

TEST(Safetensors, DataAndShapeThatDisagreeAreRefused) {
  EXPECT_THAT(error_of_reading(tensor("F32", "[5]", "[0,24]")).what(), HasSubstr("disagree"));
  error_of_reading(tensor("F32", "[]", "[0,24]"));
  error_of_reading(tensor("F32", "[4294967296,4294967296,4294967296]", "[0,24]"));
}

TEST(Safetensors, ShapesOfSomethingElseThanIntegersAreRefused) {
  for (const char* shape : {"[-6]", "[6.0]", "[true]", "[\"6\"]", "[null]", "6", "[[6]]", "null"})
    error_of_reading(tensor("F32", shape, "[0,24]"));
}

TEST(Safetensors, UnknownDTypesAreRefused) {
  EXPECT_THAT(error_of_reading(tensor("F7", "[6]", "[0,24]")).what(), HasSubstr("'F7'"));
}

TEST(Safetensors, BrokenHeadersAreRefused) {
  for (const char* header : {"", "{", "[]x", "nothing", R"({"w":1})", R"({"w":{}})", R"({"w":[1,2]})", "[1]", "\"w\"",
                             R"({"w":{"dtype":1,"shape":[6],"data_offsets":[0,24]}})", "{\"\xff\":1}",
                             R"({"__metadata__":{"DCP_SHARDING_INFO":"{"}})",
                             R"({"__metadata__":{"DCP_SHARDING_INFO":1}})", R"({"__metadata__":1})"})
    try {
      EXPECT_TRUE(read(header).tensors.empty()) << header;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << header;
    }
}

TEST(Safetensors, DeepNestingIsNoDanger) {
  error_of_reading(std::string(2'000'000, '['));
  error_of_reading("{\"w\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}");
}

}  // namespace
}  // namespace fsdpckpt
