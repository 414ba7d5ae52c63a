// Whatever happens to an archive's bytes, the readers give an answer or an Error. Most useful under sanitizers.
#include <gtest/gtest.h>

#include <initializer_list>

#include "zip/archive_builder.h"
#include "zip/directory.h"
#include "zip/forward_reader.h"

namespace fsdpckpt::zip {
namespace {

/// What both readers make of the bytes; every record they accept lies in them.
void read_both(const std::string& bytes) {
  Directory directory;
  try {
    directory.read(MemorySource(as_bytes(bytes)));
    for (const Record& record : directory.records()) {
      ASSERT_LE(record.data, bytes.size());
      ASSERT_LE(record.size, bytes.size() - record.data);
    }
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::input) << error.what();
  }
  MemoryReader memory(as_bytes(bytes));
  ForwardReader reader(memory);
  try {
    while (const auto header = reader.next()) reader.skip_payload(*header);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::input) << error.what();
  }
}

class Damage : public testing::TestWithParam<const char*> {};

TEST_P(Damage, EveryTruncationIsRefused) {
  const std::string whole = read_data(GetParam());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string bytes = whole.substr(0, length);
    EXPECT_THROW(Directory().read(MemorySource(as_bytes(bytes))), Error) << length;
    read_both(bytes);
  }
}

TEST_P(Damage, EveryFlippedBitGivesAnAnswerOrAnError) {
  std::string bytes = read_data(GetParam());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<char>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    read_both(bytes);
    bytes[bit / 8] ^= mask;
  }
}

TEST_P(Damage, EveryFieldSetToItsLargestValueGivesAnAnswerOrAnError) {
  const std::string whole = read_data(GetParam());
  for (const std::size_t width : {2U, 4U, 8U}) {
    for (std::size_t at = 0; at + width <= whole.size(); ++at) {
      std::string bytes = whole;
      bytes.replace(at, width, width, '\xff');
      read_both(bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, Damage, testing::Values("torch-2.0.1-bytes-item.pt", "torch-2.13.0-tensor-item.pt"));

}  // namespace
}  // namespace fsdpckpt::zip
