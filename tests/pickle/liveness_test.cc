#include "pickle/liveness.h"

#include <gtest/gtest.h>

#include <string>

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

Liveness scan(std::string_view pickle) {
  MemoryReader bytes(as_bytes(pickle));
  Budget budget;
  Liveness liveness;
  liveness.scan(bytes, budget);
  return liveness;
}

TEST(Liveness, NumbersTheSlotsThatAreRead) {
  const Liveness liveness = scan("NNN\x94\x94\x94\x94h\3h\1h\1."s);
  EXPECT_EQ(liveness.count(), 2);
  EXPECT_EQ(liveness.index(0), std::nullopt);
  EXPECT_EQ(liveness.index(1), 0);
  EXPECT_EQ(liveness.index(2), std::nullopt);
  EXPECT_EQ(liveness.index(3), 1);
  EXPECT_EQ(liveness.index(1000), std::nullopt);
}

TEST(Liveness, NumbersManySlots) {
  std::string pickle(10000, '\x94');
  for (int slot = 0; slot < 10000; slot += 3) {
    pickle += "j"s + static_cast<char>(slot) + static_cast<char>(slot >> 8) + "\0\0"s;
  }
  const Liveness liveness = scan(pickle + ".");
  for (std::uint32_t slot = 0; slot < 10000; ++slot) {
    EXPECT_EQ(liveness.index(slot), slot % 3 == 0 ? std::optional(slot / 3) : std::nullopt);
    EXPECT_EQ(liveness.is_live(slot), slot % 3 == 0);
  }
}

TEST(Liveness, KeepsSlotsBeyondTheWritesApart) {
  const Liveness liveness = scan("Nr\xff\xff\xff\xffj\xff\xff\xff\xff."s);
  EXPECT_EQ(liveness.count(), 0);
  EXPECT_TRUE(liveness.is_live(UINT32_MAX));
  EXPECT_FALSE(liveness.is_live(UINT32_MAX - 1));
  EXPECT_LT(liveness.memory(), 1000);
}

TEST(Liveness, PassesOverArguments) {
  // h\1 inside arguments is no opcode.
  const Liveness liveness = scan("\x94\x94Mh\1Jh\1h\1Gh\1h\1h\1h\1\x8c\2h\1X\2\0\0\0h\1B\2\0\0\0h\1ch\1\nh\1\n."s);
  EXPECT_EQ(liveness.count(), 0);
}

TEST(Liveness, StopsBehindStop) {
  const std::string pickle = "N.N.";
  MemoryReader bytes(as_bytes(pickle));
  Budget budget;
  Liveness liveness;
  liveness.scan(bytes, budget);
  EXPECT_EQ(bytes.offset(), 2);
}

}  // namespace
}  // namespace fsdpckpt::pickle
