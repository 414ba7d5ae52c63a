#include "io/byte_reader.h"

#include <gmock/gmock.h>
#include <zstd.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/error_of.h"
#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

std::string compressed(const std::string& text) {
  std::string result(ZSTD_compressBound(text.size()), '\0');
  result.resize(ZSTD_compress(result.data(), result.size(), text.data(), text.size(), 1));
  return result;
}

/// One reader of each kind over the same text; `use` is called for each.
void with_each_reader(const std::string& text, const std::function<void(ByteReader&)>& use) {
  {
    SCOPED_TRACE("MemoryReader");
    MemoryReader reader(as_bytes(text));
    use(reader);
  }
  {
    SCOPED_TRACE("SourceReader");
    const MemorySource source(as_bytes(text));
    SourceReader reader(source);
    use(reader);
  }
  SCOPED_TRACE("ZstdReader");
  const std::string frame = compressed(text);
  const MemorySource source(as_bytes(frame));
  ZstdReader reader(source);
  use(reader);
}

std::string read(ByteReader& reader, std::size_t count) {
  std::string out(count, '\0');
  reader.read({reinterpret_cast<std::byte*>(out.data()), count});
  return out;
}

TEST(ByteReader, GivesTheBytesInOrderByEveryMixOfCalls) {
  const std::string text = sample_bytes(3'000'000);
  with_each_reader(text, [&](ByteReader& reader) {
    std::mt19937 random(2);
    std::size_t at = 0;
    while (at < text.size()) {
      ASSERT_EQ(reader.offset(), at);
      ASSERT_GE(reader.remaining(), text.size() - at);
      const std::size_t most = std::min<std::size_t>(random() % 8 == 0 ? 600'000 : 5000, text.size() - at);
      const std::size_t count = random() % (most + 1);
      const std::size_t view = std::min(count, ByteReader::kMaxView);
      switch (random() % 4) {
        case 0:
          ASSERT_EQ(static_cast<char>(reader.next()), text[at]);
          at += 1;
          break;
        case 1:
          ASSERT_EQ(as_text({reader.take(view), view}), std::string_view(text).substr(at, view));
          at += view;
          break;
        case 2:
          ASSERT_EQ(read(reader, count), text.substr(at, count));
          at += count;
          break;
        default:
          reader.skip(count);
          at += count;
          break;
      }
    }
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(reader.offset(), text.size());
  });
}

TEST(ByteReader, AnEmptyInputIsAtItsEnd) {
  with_each_reader("", [](ByteReader& reader) { EXPECT_TRUE(reader.at_end()); });
}

TEST(ByteReader, IsNotAtTheEndBeforeTheLastByteIsTaken) {
  with_each_reader("ab", [](ByteReader& reader) {
    reader.next();
    EXPECT_FALSE(reader.at_end());
    reader.next();
    EXPECT_TRUE(reader.at_end());
  });
}

TEST(ByteReader, EveryCallPastTheEndIsAnInputErrorAtTheOffsetOfTheLastByteTaken) {
  const std::function<void(ByteReader&)> calls[] = {
      [](ByteReader& reader) { reader.next(), reader.next(), reader.next(), reader.next(); },
      [](ByteReader& reader) { reader.next(), reader.next(), reader.next(), reader.take(2); },
      [](ByteReader& reader) { reader.next(), reader.next(), reader.next(), read(reader, 1); },
      [](ByteReader& reader) { reader.next(), reader.next(), reader.next(), reader.skip(1); },
  };
  for (const auto& call : calls) {
    with_each_reader("abc", [&](ByteReader& reader) {
      const Error error = error_of([&] { call(reader); });
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), testing::StartsWith("data ends early: bytes needed: "));
      EXPECT_EQ(error.where().offset, 3U);
    });
  }
}

TEST(ByteReader, AFailedTakeSaysWhatIsNeededAndLeft) {
  with_each_reader("abc", [](ByteReader& reader) {
    EXPECT_STREQ(error_of([&] { reader.take(4); }).what(), "data ends early: bytes needed: 4, left: 3");
  });
}

TEST(ByteReader, AFailedTakeLeavesTheBytesToOtherCalls) {
  with_each_reader("abc", [](ByteReader& reader) {
    error_of([&] { reader.take(4); });
    EXPECT_EQ(read(reader, 3), "abc");
  });
}

TEST(ByteReader, SkippingAHugeCountFailsWithoutWrapping) {
  with_each_reader("abc", [](ByteReader& reader) {
    reader.next();
    EXPECT_EQ(error_of([&] { reader.skip(UINT64_MAX); }).kind(), ErrorKind::input);
  });
}

TEST(ByteReader, AViewLongerThanTheLimitIsABug) {
  const std::string text(300'000, 'a');
  const MemorySource source(as_bytes(text));
  SourceReader reader(source);
  EXPECT_EQ(error_of([&] { reader.take(ByteReader::kMaxView + 1); }).kind(), ErrorKind::bug);
}

class CountingSource final : public Source {
 public:
  explicit CountingSource(Bytes bytes) : memory_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return memory_.size(); }
  void read_at(std::uint64_t offset, MutableBytes out) const override {
    bytes_read += out.size();
    memory_.read_at(offset, out);
  }
  [[nodiscard]] std::string name() const override { return "counting"; }

  mutable std::uint64_t bytes_read = 0;

 private:
  MemorySource memory_;
};

TEST(SourceReader, SkippingDoesNotReadWhatIsSkipped) {
  const std::string text = sample_bytes(10'000'000);
  const CountingSource source(as_bytes(text));
  SourceReader reader(source);
  reader.next();
  reader.skip(text.size() - 11);
  EXPECT_EQ(read(reader, 10), text.substr(text.size() - 10));
  EXPECT_LT(source.bytes_read, 600'000U);
}

TEST(SourceReader, KnowsHowManyBytesRemain) {
  const MemorySource source(as_bytes("abcdef"));
  SourceReader reader(source);
  reader.skip(2);
  EXPECT_EQ(reader.remaining(), 4U);
}

}  // namespace
}  // namespace fsdpckpt
