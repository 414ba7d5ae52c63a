// Compressed items: decoded front to back, whatever the cut of the tensor.
#include "exec/stream_chunk.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "exec/consolidated.h"

namespace fsdpckpt {
namespace {

std::vector<ChunkPlan> compressed(std::vector<ChunkPlan> chunks) {
  for (ChunkPlan& chunk : chunks) chunk.is_compressed = true;
  return chunks;
}

ConsolidateReport expect_whole(const TensorValues& values, const std::vector<ChunkPlan>& chunks) {
  DcpBuilder builder;
  builder.add("w", values, chunks);
  return expect_consolidates(builder, {{"w", values}}, {.threads = 2});
}

TEST(StreamChunk, JoinsCompressedRowsAndColumns) {
  const TensorValues values = sample_values("float32", {1001, 703});
  EXPECT_EQ(expect_whole(values, compressed(cut(values.shape, 0, 3))).chunks_unchecked, 0U);
  EXPECT_EQ(expect_whole(values, compressed(cut(values.shape, 1, 3))).chunks_unchecked, 0U);
}

TEST(StreamChunk, JoinsSmallCompressedChunks) {
  const TensorValues values = sample_values("float32", {7, 3});
  expect_whole(values, compressed(cut(values.shape, 0, 3)));
}

TEST(StreamChunk, MixesWithChunksThatAreNotCompressed) {
  const TensorValues values = sample_values("float32", {1001, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 1, 3));
  chunks[1].is_compressed = false;
  expect_whole(values, chunks);
}

TEST(StreamChunk, TakesItemsWithoutDataDescriptors) {
  const TensorValues values = sample_values("float32", {501, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 0, 2));
  for (ChunkPlan& chunk : chunks) chunk.has_descriptor = false;
  expect_whole(values, chunks);
}

TEST(StreamChunk, TakesViewsOfLargerStorages) {
  const TensorValues values = sample_values("float32", {501, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 0, 2));
  chunks[0].padding = 9;
  expect_whole(values, chunks);
}

TEST(StreamChunk, PutsTransposedItemsInOrder) {
  const TensorValues values = sample_values("float32", {501, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 0, 2));
  chunks[1].is_transposed = true;
  expect_whole(values, chunks);
}

TEST(StreamChunk, WritesTensorsWithoutElements) {
  const TensorValues none = sample_values("float32", {0, 3}), other = sample_values("float32", {2, 3});
  DcpBuilder builder;
  builder.add("none", none, compressed({{.offsets = {0, 0}, .sizes = {0, 3}}}));
  builder.add("other", other, compressed(cut(other.shape, 0, 1)));
  expect_consolidates(builder, {{"none", none}, {"other", other}});
}

TEST(StreamChunk, CountsChunksWithoutChecksums) {
  const TensorValues values = sample_values("float32", {501, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 0, 2));
  chunks[0].has_checksum = false;
  EXPECT_EQ(expect_whole(values, chunks).chunks_unchecked, 1U);
}

/// One compressed chunk of the item with this payload.
DcpBuilder one_chunk(const TensorValues& values, const std::string& item) {
  DcpBuilder builder;
  builder.add("w", values, compressed(cut(values.shape, 0, 1)));
  builder.file(0) = item;
  builder.entries()[0].chunks[0].length = item.size();
  return builder;
}

TEST(StreamChunk, FindsOneDamagedBitInsideTheStream) {
  for (const bool has_descriptors : {true, false}) {
    const TensorValues values = sample_values("float32", {501, 703});
    std::string item = tensor_item({.shape = values.shape, .storage = values.bytes}, true, has_descriptors);
    const std::size_t at = item.find(values.bytes.substr(0, 64));
    item[at + 1000] = static_cast<char>(item[at + 1000] ^ 1);
    const Error error = error_of_consolidating(one_chunk(values, zstd_of(item)));
    EXPECT_NE(std::string(error.what()).find("checksum"), std::string::npos) << error.what();
    EXPECT_EQ(error.where().entry, "w");
    EXPECT_EQ(error.where().box, "[0:501, 0:703]");
  }
}

TEST(StreamChunk, FindsOneDamagedBitInAStorageThatIsLargerOrInAnotherOrder) {
  const TensorValues values = sample_values("float32", {501, 703});
  const std::string padding(36, 'p');
  const TestTensor view{.shape = values.shape, .storage_offset = 9, .storage = padding + values.bytes + padding};
  const TestTensor transposed{.shape = values.shape, .strides = {1, 501}, .storage = values.bytes};
  for (const TestTensor& tensor : {view, transposed}) {
    const std::string item = tensor_item(tensor);
    const std::size_t begin = item.find(tensor.storage.substr(0, 64));
    for (const std::size_t byte : {std::size_t{0}, std::size_t{1000}, tensor.storage.size() - 1}) {
      std::string damaged = item;
      damaged[begin + byte] = static_cast<char>(damaged[begin + byte] ^ 1);
      const Error error = error_of_consolidating(one_chunk(values, zstd_of(damaged)));
      EXPECT_NE(std::string(error.what()).find("checksum"), std::string::npos) << error.what();
      EXPECT_EQ(error.where().entry, "w");
    }
  }
}

/// Most flipped bits leave a valid pickle, of other strides or another offset.
TEST(StreamChunk, FindsEveryDamagedBitOfTheItemsPickle) {
  const TensorValues values = sample_values("float32", {4, 4});
  for (const bool has_descriptors : {true, false}) {
    const std::string item = tensor_item({.shape = values.shape, .storage = values.bytes}, true, has_descriptors);
    const std::size_t begin = item.find("\x80\2"), end = item.rfind("tR.", item.find("archive/byteorder")) + 3;
    ASSERT_LT(begin, end);
    for (std::size_t bit = begin * 8; bit < end * 8; ++bit) {
      std::string damaged = item;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const Error error = error_of_consolidating(one_chunk(values, zstd_of(damaged)));
      EXPECT_EQ(error.kind(), ErrorKind::input) << bit;
      EXPECT_EQ(error.where().entry, "w") << bit;
    }
  }
}

TEST(StreamChunk, CountsChecksumsOfAllKindsAsChecked) {
  const TensorValues values = sample_values("float32", {501, 703});
  std::vector<ChunkPlan> chunks = compressed(cut(values.shape, 0, 3));
  chunks[0].padding = 9;
  chunks[1].is_transposed = true;
  EXPECT_EQ(expect_whole(values, chunks).chunks_unchecked, 0U);
}

TEST(StreamChunk, RefusesAStorageOfAnotherSizeThanItsTensorNeeds) {
  const TensorValues values = sample_values("float32", {4, 4});
  for (const std::string& storage : {values.bytes + "12345678", values.bytes.substr(8)}) {
    for (const bool has_checksums : {true, false}) {
      for (const bool has_descriptors : {true, false}) {
        const TestTensor tensor{.shape = values.shape, .storage = storage, .numel = 16};
        const Error error =
            error_of_consolidating(one_chunk(values, zstd_of(tensor_item(tensor, has_checksums, has_descriptors))));
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_EQ(error.where().entry, "w");
      }
    }
  }
}

TEST(StreamChunk, RefusesAStreamThatEndsEarly) {
  const TensorValues values = sample_values("float32", {501, 703});
  const std::string stream = zstd_of(tensor_item({.shape = values.shape, .storage = values.bytes}));
  const Error error = error_of_consolidating(one_chunk(values, stream.substr(0, stream.size() / 2)));
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().entry, "w");
}

/// The last bytes of a stream hold no byte of the tensor, but the directory of the item and the end of the frame.
TEST(StreamChunk, RefusesAStreamWhoseLastBytesAreMissing) {
  const TensorValues values = sample_values("float32", {51, 73});
  const std::string stream = zstd_of(tensor_item({.shape = values.shape, .storage = values.bytes}));
  for (std::size_t missing = 1; missing < 8; ++missing) {
    const Error error = error_of_consolidating(one_chunk(values, stream.substr(0, stream.size() - missing)));
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.where().entry, "w");
  }
}

TEST(StreamChunk, RefusesBytesBehindTheStream) {
  const TensorValues values = sample_values("float32", {51, 73});
  const std::string stream = zstd_of(tensor_item({.shape = values.shape, .storage = values.bytes}));
  EXPECT_EQ(error_of_consolidating(one_chunk(values, stream + "more")).kind(), ErrorKind::input);
}

TEST(StreamChunk, RefusesAStreamThatGoesOnWithoutEnd) {
  const TensorValues values = sample_values("float32", {51, 73});
  const std::string item = tensor_item({.shape = values.shape, .storage = values.bytes});
  const Error error = error_of_consolidating(one_chunk(values, zstd_of(item + std::string(64 << 20, '\0'))));
  EXPECT_NE(std::string(error.what()).find("more than 1 MiB behind its tensor"), std::string::npos) << error.what();
  EXPECT_EQ(error.where().entry, "w");
}

/// Byte 5 of a frame of less than 64 KiB with a content size: ZSTD's frame format, 3.1.1.1.
TEST(StreamChunk, RefusesAFalseContentSize) {
  const TensorValues values = sample_values("float32", {51, 73});
  std::string stream = zstd_of(tensor_item({.shape = values.shape, .storage = values.bytes}));
  ASSERT_EQ(stream[4] & 0xe0, 0x60);  // single segment, content size in two bytes
  stream[5] = static_cast<char>(stream[5] ^ 1);
  EXPECT_EQ(error_of_consolidating(one_chunk(values, stream)).kind(), ErrorKind::input);
}

TEST(StreamChunk, RefusesBytesThatAreNoStream) {
  const TensorValues values = sample_values("float32", {4, 4});
  const std::string item = tensor_item({.shape = values.shape, .storage = values.bytes});
  EXPECT_EQ(error_of_consolidating(one_chunk(values, item)).kind(), ErrorKind::input);
}

TEST(StreamChunk, RefusesAnItemThatHoldsNoTensor) {
  const TensorValues values = sample_values("float32", {4, 4});
  const std::string item = object_item([](pickle::Writer& writer) { writer.integer(1); });
  EXPECT_EQ(error_of_consolidating(one_chunk(values, zstd_of(item))).kind(), ErrorKind::input);
}

TEST(StreamChunk, RefusesAnItemOfAnotherShape) {
  const TensorValues values = sample_values("float32", {4, 4});
  const std::string item = tensor_item({.shape = {2, 8}, .storage = values.bytes});
  const Error error = error_of_consolidating(one_chunk(values, zstd_of(item)));
  EXPECT_NE(std::string(error.what()).find("[2, 8]"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace fsdpckpt
