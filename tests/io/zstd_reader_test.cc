#include <gmock/gmock.h>
#include <zstd.h>

#include "base/error_of.h"
#include "io/byte_reader.h"
#include "io/sample_bytes.h"

namespace fsdpckpt {
namespace {

using namespace std::string_literals;

std::string compressed(const std::string& text, bool checksum = false) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  std::string result(ZSTD_compressBound(text.size()), '\0');
  result.resize(ZSTD_compress2(context, result.data(), result.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return result;
}

std::string decoded(const std::string& stream) {
  const MemorySource source(as_bytes(stream), "stream.zst");
  ZstdReader reader(source);
  std::string result;
  while (!reader.at_end()) result.push_back(static_cast<char>(reader.next()));
  return result;
}

/// A frame of the one byte "a" that declares a window of 2^(10 + exponent) bytes.
std::string frame_with_window(int exponent) {
  return "\x28\xb5\x2f\xfd\x00"s + static_cast<char>(exponent << 3) + "\x09\x00\x00"s + "a";
}

const std::string kSkippable = "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz"s;

TEST(ZstdReader, DecodesDataThatExpandsFarBeyondTheBuffers) {
  const std::string text(5'000'000, 'z');
  EXPECT_EQ(decoded(compressed(text)), text);
}

TEST(ZstdReader, ContinuesOverSeveralFrames) {
  const std::string a = sample_bytes(300'000, 1);
  const std::string b = sample_bytes(1, 2);
  EXPECT_EQ(decoded(compressed(a) + compressed("") + compressed(b)), a + b);
}

TEST(ZstdReader, PassesOverSkippableFrames) {
  EXPECT_EQ(decoded(kSkippable + compressed("ab") + kSkippable + compressed("cd") + kSkippable), "abcd");
  EXPECT_EQ(decoded(kSkippable), "");
}

TEST(ZstdReader, DoesNotKnowHowManyBytesRemain) {
  const std::string stream = compressed("ab");
  const MemorySource source(as_bytes(stream));
  EXPECT_EQ(ZstdReader(source).remaining(), UINT64_MAX);
}

TEST(ZstdReader, EveryTruncationOfAFrameIsAnInputError) {
  const std::string stream = compressed(sample_bytes(500) + std::string(5000, 'a'), true);
  for (std::size_t length = 1; length < stream.size(); ++length) {
    const Error error = error_of([&] { decoded(stream.substr(0, length)); });
    ASSERT_EQ(error.kind(), ErrorKind::input) << length;
    ASSERT_STREQ(error.what(), "zstd stream ends in the middle of a frame") << length;
    ASSERT_EQ(error.where().path, "stream.zst");
    ASSERT_EQ(error.where().offset, length);
  }
}

TEST(ZstdReader, ATruncatedSecondFrameIsAnInputErrorAfterTheFirst) {
  const std::string first = compressed("ab");
  const std::string stream = first + compressed("cd").substr(0, 6);
  const MemorySource source(as_bytes(stream));
  ZstdReader reader(source);
  reader.skip(2);
  EXPECT_EQ(error_of([&] { (void)reader.at_end(); }).kind(), ErrorKind::input);
}

TEST(ZstdReader, ATruncatedSkippableFrameIsAnInputError) {
  EXPECT_EQ(error_of([] { decoded(kSkippable.substr(0, 9)); }).kind(), ErrorKind::input);
}

TEST(ZstdReader, GarbageBehindTheLastFrameIsAnInputError) {
  const Error error = error_of([] { decoded(compressed("ab") + "garbage"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), testing::StartsWith("zstd stream is broken: "));
}

TEST(ZstdReader, AFalseChecksumIsAnInputError) {
  std::string stream = compressed("abc", true);
  stream.back() = static_cast<char>(stream.back() ^ 1);
  const Error error = error_of([&] { decoded(stream); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), testing::HasSubstr("checksum"));
}

TEST(ZstdReader, WindowsUpTo128MiBAreAcceptedAndLargerOnesAreAnInputError) {
  EXPECT_EQ(decoded(frame_with_window(17)), "a");
  const Error error = error_of([] { decoded(frame_with_window(18)); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), testing::HasSubstr("too much memory"));
}

}  // namespace
}  // namespace fsdpckpt
