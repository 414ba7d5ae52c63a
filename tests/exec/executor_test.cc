// Tensors of several tiles, cut in every way, against the bytes they were made of.
#include "exec/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

#include "exec/consolidated.h"
#include "model/boxes.h"

namespace fsdpckpt {
namespace {

/// The same file whatever the threads and tiles, and it holds `expected`.
void expect_same_everywhere(const DcpBuilder& builder, const Tensors& expected) {
  const TempDir directory;
  builder.write(directory, "ck");
  const std::string one = write_to_memory(directory.path("ck"), {.threads = 1, .tile_bytes = 1 << 20});
  directory.write("one.pt", one);
  expect_tensors(read_tensors(directory.path("one.pt")), expected);
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::uint64_t tile : {std::uint64_t{4096}, std::uint64_t{256} << 10}) {
      EXPECT_TRUE(write_to_memory(directory.path("ck"), {.threads = threads, .tile_bytes = tile}) == one)
          << threads << " threads, tiles of " << tile;
    }
  }
}

void expect_whole(const TensorValues& values, const std::vector<ChunkPlan>& chunks) {
  DcpBuilder builder;
  builder.add("model.w", values, chunks, {"model", "w"});
  expect_same_everywhere(builder, {{"model.w", values}});
}

const TensorValues& large() {
  static const TensorValues values = sample_values("float32", {1001, 503});  // 2 MB
  return values;
}

std::vector<ChunkPlan> with(std::vector<ChunkPlan> chunks, bool ChunkPlan::*flag, bool value) {
  for (ChunkPlan& chunk : chunks) chunk.*flag = value;
  return chunks;
}

TEST(Executor, JoinsRowShards) { expect_whole(large(), cut(large().shape, 0, 4)); }

TEST(Executor, JoinsColumnShards) { expect_whole(large(), cut(large().shape, 1, 3)); }

TEST(Executor, JoinsBoxesInTwoDimensions) {
  std::vector<ChunkPlan> chunks;
  for (const ChunkPlan& rows : cut(large().shape, 0, 3)) {
    for (const ChunkPlan& columns : cut(large().shape, 1, 2)) {
      chunks.push_back({.offsets = {rows.offsets[0], columns.offsets[1]},
                        .sizes = {rows.sizes[0], columns.sizes[1]},
                        .rank = rows.rank * 2 + columns.rank});
    }
  }
  expect_whole(large(), chunks);
}

/// FSDP over tensor parallel on one dimension: the pieces of the ranks interleave.
TEST(Executor, JoinsInterleavedRowShards) {
  std::vector<ChunkPlan> chunks;
  for (int i = 0; i < 77; ++i) chunks.push_back({.offsets = {i * 13, 0}, .sizes = {13, 503}, .rank = i % 4});
  expect_whole(large(), chunks);
}

TEST(Executor, JoinsOneWholeChunk) { expect_whole(large(), {{.offsets = {0, 0}, .sizes = large().shape}}); }

TEST(Executor, JoinsRandomBoxesOfRandomTensors) {
  std::mt19937 random(11);
  for (int round = 0; round < 25; ++round) {
    const auto dims = static_cast<std::size_t>(random_between(random, 1, 4));
    const Numbers shape = random_shape(random, dims, dims == 1 ? 40'000 : 40 / static_cast<std::int64_t>(dims) + 3);
    const TensorValues values = sample_values(round % 2 == 0 ? "bfloat16" : "complex128", shape);
    std::vector<ChunkPlan> chunks;
    for (const TestBox& box : random_partition(random, shape, 12)) {
      chunks.push_back({.offsets = box.offsets,
                        .sizes = box.sizes,
                        .rank = static_cast<int>(random_between(random, 0, 3)),
                        .is_transposed = random_between(random, 0, 3) == 0,
                        .padding = random_between(random, 0, 2)});
    }
    expect_whole(values, chunks);
  }
}

TEST(Executor, PutsTransposedItemsInOrder) {
  expect_whole(large(), with(cut(large().shape, 0, 2), &ChunkPlan::is_transposed, true));
  expect_whole(large(), with(cut(large().shape, 1, 2), &ChunkPlan::is_transposed, true));
}

TEST(Executor, TakesItemsThatAreViewsOfLargerStorages) {
  std::vector<ChunkPlan> chunks = cut(large().shape, 0, 2);
  chunks[0].padding = 1000;
  chunks[1].padding = 3;
  chunks[1].is_transposed = true;
  expect_whole(large(), chunks);
}

TEST(Executor, TakesItemsWithoutDataDescriptors) {
  expect_whole(large(), with(cut(large().shape, 0, 2), &ChunkPlan::has_descriptor, false));
}

TEST(Executor, WritesTensorsOfNoDimensionsAndOfNoElements) {
  const TensorValues step = sample_values("float32", {}), none = sample_values("int64", {0, 3});
  DcpBuilder builder;
  builder.add("step", step, {{.offsets = {}, .sizes = {}}}).add("none", none, {{.offsets = {0, 0}, .sizes = {0, 3}}});
  expect_same_everywhere(builder, {{"step", step}, {"none", none}});
}

TEST(Executor, LeavesOutEmptyChunks) {
  const TensorValues values = sample_values("float32", {5, 3});
  expect_whole(values, cut(values.shape, 0, 4));
}

TEST(Executor, WritesManySmallTensors) {
  DcpBuilder builder;
  Tensors expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "layers." + std::to_string(i) + ".a_rather_long_name_of_a_parameter.weight";
    expected[name] = sample_values("float16", {i % 7, 11}, static_cast<unsigned>(i));
    builder.add(name, expected[name], cut(expected[name].shape, 0, i % 7 == 0 ? 1 : 2));
  }
  expect_same_everywhere(builder, expected);
}

TEST(Executor, WritesAPickleThatIsLargerThanATile) {
  const TensorValues values = sample_values("uint8", {3});
  DcpBuilder builder;
  const std::string long_text(300'000, 'x');
  builder.add("w", values, cut(values.shape, 0, 1));
  builder.add_object("note", object_item([&](pickle::Writer& writer) { writer.text(long_text); }));
  expect_same_everywhere(builder, {{"w", values}});
  const TempDir directory;
  builder.write(directory, "ck");
  EXPECT_NE(write_to_memory(directory.path("ck"), {}).find(long_text), std::string::npos);
}

TEST(Executor, WritesAFileOfNothingButALargeObject) {
  DcpBuilder builder;
  builder.add_object("note", object_item([](pickle::Writer& writer) { writer.text(std::string(2'000'000, 'y')); }));
  expect_same_everywhere(builder, {});
}

TEST(Executor, CarriesStoragesOfObjectsOver) {
  const TensorValues values = sample_values("float32", {400, 400});
  const TestTensor tensor{.shape = values.shape, .storage = values.bytes};
  const auto item = object_item(
      [&](pickle::Writer& writer) {
        write_test_tensor(writer, tensor);
        writer.integer(3);
        writer.tuple(2);
      },
      {values.bytes});
  for (const bool is_compressed : {false, true}) {
    DcpBuilder builder;
    builder.add_object("pair", item, {}, is_compressed);
    const TempDir directory;
    builder.write(directory, "ck");
    const std::string file = write_to_memory(directory.path("ck"), {.threads = 2});
    EXPECT_NE(file.find(values.bytes), std::string::npos);
  }
}

TEST(Executor, ReportsProgressUpToTheEnd) {
  const TempDir directory;
  DcpBuilder builder;
  builder.add("w", large(), cut(large().shape, 0, 2));
  builder.write(directory, "ck");
  std::uint64_t most = 0, whole = 0;
  write_to_memory(directory.path("ck"), {.progress = [&](std::uint64_t done, std::uint64_t total) {
                    EXPECT_LE(done, total);
                    most = std::max(most, done);
                    whole = total;
                  }});
  EXPECT_GE(most, large().bytes.size());
  EXPECT_GT(whole, most / 2);
}

}  // namespace
}  // namespace fsdpckpt
