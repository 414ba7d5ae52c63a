#include <fsdpckpt/dtype.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

namespace fsdpckpt {
namespace {

TEST(DType, EveryNameLeadsBackToItsDType) {
  std::set<std::string_view> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_of_name(name(dtype)), dtype);
    names.insert(name(dtype));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kDTypeCount));
}

TEST(DType, UnknownNamesAreNone) {
  for (const char* text : {"", "float", "torch.float32", "Float32", "qint8", "int4"})
    EXPECT_FALSE(dtype_of_name(text)) << text;
}

// c10/core/ScalarType.h
TEST(DType, SizesAreTorchs) {
  EXPECT_EQ(item_size(DType::complex128), 16U);
  EXPECT_EQ(item_size(DType::float64), 8U);
  EXPECT_EQ(item_size(DType::complex64), 8U);
  EXPECT_EQ(item_size(DType::float32), 4U);
  EXPECT_EQ(item_size(DType::complex32), 4U);
  EXPECT_EQ(item_size(DType::bfloat16), 2U);
  EXPECT_EQ(item_size(DType::bits16), 2U);
  EXPECT_EQ(item_size(DType::boolean), 1U);
  EXPECT_EQ(item_size(DType::float8_e8m0fnu), 1U);
  EXPECT_EQ(item_size(DType::float4_e2m1fn_x2), 1U);
}

TEST(DType, BoolIsSpelledAsTorchSpellsIt) { EXPECT_EQ(name(DType::boolean), "bool"); }

}  // namespace
}  // namespace fsdpckpt
