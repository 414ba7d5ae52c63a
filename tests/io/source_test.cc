#include "io/source.h"

#include <initializer_list>

#include "base/error_of.h"
#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

std::string read(const Source& source, std::uint64_t offset, std::size_t length) {
  std::string out(length, '\0');
  source.read_at(offset, {reinterpret_cast<std::byte*>(out.data()), length});
  return out;
}

class CountingSource final : public Source {
 public:
  explicit CountingSource(Bytes bytes) : memory_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return memory_.size(); }
  void read_at(std::uint64_t offset, MutableBytes out) const override {
    ++reads;
    memory_.read_at(offset, out);
  }
  [[nodiscard]] std::string name() const override { return "counting"; }

  mutable int reads = 0;

 private:
  MemorySource memory_;
};

TEST(MemorySource, ReadsAnyRange) {
  const MemorySource source(as_bytes("abcdef"));
  EXPECT_EQ(source.size(), 6U);
  EXPECT_EQ(read(source, 0, 6), "abcdef");
  EXPECT_EQ(read(source, 4, 2), "ef");
  EXPECT_EQ(read(source, 6, 0), "");
}

TEST(MemorySource, ReadingPastTheEndIsAnInputErrorThatNamesTheSource) {
  const MemorySource source(as_bytes("abcdef"), "x.bin");
  const Error error = error_of([&] { read(source, 4, 3); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "data is too short: bytes 4..7 are needed, it has 6");
  EXPECT_EQ(error.where().path, "x.bin");
}

TEST(MemorySource, OffsetsThatWouldWrapAreAnInputError) {
  const MemorySource source(as_bytes("abcdef"));
  EXPECT_EQ(error_of([&] { read(source, UINT64_MAX, 3); }).kind(), ErrorKind::input);
}

TEST(SliceSource, ReadsRelativeToItsStart) {
  const MemorySource memory(as_bytes("abcdef"), "x.bin");
  const SliceSource slice(memory, 2, 3);
  EXPECT_EQ(slice.size(), 3U);
  EXPECT_EQ(read(slice, 1, 2), "de");
  EXPECT_EQ(slice.name(), "x.bin@2");
}

TEST(SliceSource, DoesNotReadBeyondItsEndEvenIfTheParentGoesOn) {
  const MemorySource memory(as_bytes("abcdef"), "x.bin");
  const SliceSource slice(memory, 2, 3);
  const Error error = error_of([&] { read(slice, 1, 3); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "slice is too short: bytes 1..4 are needed, it has 3");
  EXPECT_EQ(error.where().path, "x.bin@2");
}

TEST(SliceSource, ASliceThatLeavesItsParentIsRefusedAtOnce) {
  const MemorySource memory(as_bytes("abcdef"));
  EXPECT_EQ(error_of([&] { SliceSource(memory, 4, 3); }).kind(), ErrorKind::input);
  EXPECT_EQ(error_of([&] { SliceSource(memory, 7, 0); }).kind(), ErrorKind::input);
  EXPECT_EQ(error_of([&] { SliceSource(memory, 1, UINT64_MAX); }).kind(), ErrorKind::input);
}

TEST(EndsCachedSource, GivesTheSameBytesAsItsParentForEveryRange) {
  for (const std::size_t size : {0, 1, 7, 8, 9, 15, 16, 17, 40}) {
    const std::string text = sample_bytes(size);
    const MemorySource memory(as_bytes(text));
    const EndsCachedSource cached(memory, 8);
    for (std::size_t offset = 0; offset <= size; ++offset) {
      for (std::size_t length = 0; offset + length <= size; ++length) {
        ASSERT_EQ(read(cached, offset, length), text.substr(offset, length)) << size << " " << offset << " " << length;
      }
    }
  }
}

TEST(EndsCachedSource, ReadsTheParentTwiceAndThenOnlyInTheMiddle) {
  const std::string text = sample_bytes(100);
  const CountingSource parent(as_bytes(text));
  const EndsCachedSource cached(parent, 8);
  EXPECT_EQ(parent.reads, 2);
  read(cached, 0, 8);
  read(cached, 92, 8);
  EXPECT_EQ(parent.reads, 2);
  read(cached, 91, 9);
  EXPECT_EQ(parent.reads, 3);
}

TEST(EndsCachedSource, ReadingPastTheEndIsAnInputError) {
  const MemorySource memory(as_bytes("abcdef"));
  const EndsCachedSource cached(memory, 4);
  EXPECT_EQ(error_of([&] { read(cached, 6, 1); }).kind(), ErrorKind::input);
  EXPECT_EQ(error_of([&] { read(cached, UINT64_MAX, 2); }).kind(), ErrorKind::input);
}

}  // namespace
}  // namespace fsdpckpt
