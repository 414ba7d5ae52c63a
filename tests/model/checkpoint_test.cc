#include <fsdpckpt/checkpoint.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error_of.h"
#include "model/boxes.h"

namespace fsdpckpt {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Checkpoint, CountsElementsAndBytesOfATensor) {
  const Numbers shape = {5, 7};
  const Entry entry{.dtype = DType::float64, .shape = shape};
  EXPECT_EQ(element_count(entry), 35U);
  EXPECT_EQ(byte_count(entry), 280U);
}

TEST(Checkpoint, ATensorWithoutDimensionsHasOneElement) {
  EXPECT_EQ(element_count({.dtype = DType::int64}), 1U);
  EXPECT_EQ(byte_count({.dtype = DType::int64}), 8U);
}

TEST(Checkpoint, ATensorWithADimensionOfZeroHasNoBytes) {
  const Numbers shape = {0, kHuge};
  EXPECT_EQ(byte_count({.dtype = DType::float32, .shape = shape}), 0U);
}

TEST(Checkpoint, AnObjectHasNoTensorBytes) { EXPECT_EQ(byte_count({.kind = EntryKind::object}), 0U); }

TEST(Checkpoint, AShapeTooLargeForSixtyFourBitsIsAnInputError) {
  const Numbers shape = {kHuge, 3};
  EXPECT_EQ(error_of([&] { return element_count({.shape = shape}); }).kind(), ErrorKind::input);
}

TEST(Checkpoint, ASizeInBytesTooLargeForSixtyFourBitsIsAnInputError) {
  const Numbers shape = {kHuge};
  EXPECT_EQ(error_of([&] { return byte_count({.dtype = DType::float32, .shape = shape}); }).kind(), ErrorKind::input);
}

TEST(Checkpoint, ShapesAreSpelledAsTorchSpellsThem) {
  EXPECT_EQ(shape_text(Numbers{}), "[]");
  EXPECT_EQ(shape_text(Numbers{5, 7}), "[5, 7]");
}

TEST(Checkpoint, BoxesAreSpelledAsSlices) {
  EXPECT_EQ(box_text(Numbers{3, 0}, Numbers{2, 7}), "[3:5, 0:7]");
  EXPECT_EQ(box_text(Numbers{}, Numbers{}), "[]");
  EXPECT_EQ(box_text(Numbers{INT64_MAX}, Numbers{1}), "[9223372036854775807:9223372036854775808]");
}

TEST(Checkpoint, ABoxThatEndsBeyondTheIntegersIsSpelledWithoutWrapping) {
  EXPECT_EQ(box_text(Numbers{INT64_MAX}, Numbers{INT64_MAX}), "[9223372036854775807:18446744073709551614]");
}

TEST(Checkpoint, AFreshOneIsEmpty) {
  const Checkpoint checkpoint;
  EXPECT_EQ(checkpoint.entry_count(), 0U);
  EXPECT_EQ(checkpoint.find("w"), 0U);
  EXPECT_TRUE(checkpoint.files().empty());
  EXPECT_TRUE(checkpoint.notes().empty());
}

}  // namespace
}  // namespace fsdpckpt
