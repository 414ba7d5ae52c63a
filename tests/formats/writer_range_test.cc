#include "formats/writer_range.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fsdpckpt {
namespace {

using F = WriterFact;

std::string range(std::initializer_list<WriterFact> seen) {
  WriterFacts facts;
  for (const WriterFact fact : seen) facts.add(fact);
  return writer_range(facts);
}

TEST(WriterRange, IsNarrowedByEachFact) {
  EXPECT_EQ(range({F::old_properties, F::five_properties, F::no_storage_meta, F::no_version}), "torch 2.0 to 2.2");
  EXPECT_EQ(range({F::new_properties, F::five_properties, F::no_storage_meta, F::no_version}), "torch 2.3");
  EXPECT_EQ(range({F::new_properties, F::storage_meta, F::storage_meta_plain, F::no_version}), "torch 2.4 to 2.6");
  EXPECT_EQ(range({F::new_properties, F::storage_meta, F::storage_meta_modules, F::no_version}), "torch 2.7 to 2.8");
  EXPECT_EQ(range({F::new_properties, F::five_properties, F::storage_meta, F::version}), "torch 2.9 to 2.14");
  EXPECT_EQ(range({F::six_properties, F::storage_meta, F::version}), "torch 2.15 or later");
}

TEST(WriterRange, DoesWithoutTensors) {
  EXPECT_EQ(range({F::no_storage_meta, F::no_version}), "torch 2.0 to 2.3");
  EXPECT_EQ(range({F::storage_meta, F::version}), "torch 2.9 or later");
}

TEST(WriterRange, IsEmptyForWhatNoTorchWrites) {
  EXPECT_EQ(range({F::old_properties, F::version}), "");
  EXPECT_EQ(range({F::old_properties, F::new_properties}), "");
  EXPECT_EQ(range({F::five_properties, F::six_properties}), "");
  EXPECT_EQ(range({F::transform, F::no_version, F::no_storage_meta}), "");
  EXPECT_EQ(range({F::byteorder, F::no_serialization_id, F::no_format_version}), "");
  EXPECT_EQ(range({}), "");
}

TEST(WriterRange, OfAnArchiveComesFromItsRecords) {
  EXPECT_EQ(range({F::no_byteorder, F::no_serialization_id, F::no_format_version}), "torch 2.0 or earlier");
  EXPECT_EQ(range({F::byteorder, F::serialization_id, F::no_format_version}), "torch 2.1 to 2.6");
  EXPECT_EQ(range({F::byteorder, F::serialization_id, F::format_version}), "torch 2.7 or later");
}

TEST(WriterRange, HeedsDTypesThatCameLater) {
  const auto with = [](DType dtype) {
    WriterFacts facts;
    facts.add(F::no_storage_meta);
    facts.add(dtype);
    return writer_range(facts);
  };
  EXPECT_EQ(with(DType::float32), "torch 2.0 to 2.3");
  EXPECT_EQ(with(DType::float8_e5m2), "torch 2.2 to 2.3");
  EXPECT_EQ(with(DType::complex32), "torch 2.3");
  EXPECT_EQ(with(DType::uint16), "");
}

TEST(WriterRange, JoinsTheFactsOfAllRanks) {
  WriterFacts one, other;
  one.add(F::version);
  other.add(F::no_version);
  one.add(other);
  EXPECT_EQ(writer_range(one), "");
}

}  // namespace
}  // namespace fsdpckpt
