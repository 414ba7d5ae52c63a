#include "base/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace fsdpckpt {
namespace {

TEST(Bytes, LoadsUnalignedLittleEndianNumbers) {
  constexpr std::array<std::byte, 5> kBytes{std::byte{9}, std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0x84}};
  EXPECT_EQ(load_le<std::uint32_t>(kBytes.data() + 1), 0x84030201U);
  EXPECT_EQ(load_le<std::uint16_t>(kBytes.data() + 3), 0x8403U);
}

TEST(Bytes, StoresWhatLoadReads) {
  std::array<std::byte, 9> bytes{};
  store_le<std::uint64_t>(bytes.data() + 1, 0x0123456789abcdef);
  EXPECT_EQ(bytes[1], std::byte{0xef});
  EXPECT_EQ(bytes[8], std::byte{0x01});
  EXPECT_EQ(load_le<std::uint64_t>(bytes.data() + 1), 0x0123456789abcdefU);
}

TEST(Bytes, TextAndBytesAreViewsOfEachOther) {
  const std::string_view text("a\0b", 3);
  EXPECT_EQ(as_bytes(text).size(), 3U);
  EXPECT_EQ(as_text(as_bytes(text)), text);
}

}  // namespace
}  // namespace fsdpckpt
