// Elements gathered by random strides, against a walk over every index.
#include "exec/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>

#include "base/sha256.h"
#include "formats/manifest.h"
#include "io/sample_bytes.h"
#include "model/boxes.h"
#include "pickle/machine.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kAll = UINT64_MAX;

/// Strides of the shape with its dimensions laid out in a random order.
Numbers random_strides(std::mt19937& random, const Numbers& shape) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::shuffle(order, random);
  Numbers strides(shape.size());
  std::int64_t next = random_between(random, 1, 2);
  for (const std::size_t dim : order) {
    strides[dim] = next;
    next *= shape[dim] + random_between(random, 0, 1);
  }
  return strides;
}

std::string gathered_by_hand(const std::string& storage, const Numbers& shape, const Numbers& strides) {
  std::string dense;
  for (std::int64_t i = 0; i < volume(shape); ++i) {
    std::int64_t rest = i, place = 0;
    for (std::size_t dim = shape.size(); dim-- > 0; rest /= shape[dim]) place += rest % shape[dim] * strides[dim];
    dense.append(storage, static_cast<std::size_t>(place) * 2, 2);
  }
  return dense;
}

std::string gather_part(const std::string& storage, const Numbers& shape, const Numbers& strides, const Piece& piece,
                        std::uint64_t most_bytes) {
  const Payload payload{.offset = 6, .strides = strides};
  const Numbers offsets(shape.size(), 0);
  std::string out(piece.count * 2, '\0');
  gather_piece(MemorySource(as_bytes(storage)), payload,
               {.name = "w", .dtype = DType::float16, .sizes = shape, .offsets = offsets}, piece,
               std::as_writable_bytes(std::span(out)), most_bytes);
  return out;
}

TEST(GatherPiece, GathersAnyPieceOfAnyStrides) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const Numbers shape = random_shape(random, static_cast<std::size_t>(random_between(random, 1, 4)), 6);
    const Numbers strides = random_strides(random, shape);
    const std::string storage = sample_bytes(50'000, static_cast<unsigned>(round));
    const std::string dense = gathered_by_hand(storage.substr(6), shape, strides);
    const auto first = static_cast<std::uint64_t>(random_between(random, 0, volume(shape) - 1));
    const std::uint64_t left = static_cast<std::uint64_t>(volume(shape)) - first;
    const auto count = static_cast<std::uint64_t>(random_between(random, 1, static_cast<std::int64_t>(left)));
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1000}, kAll})
      ASSERT_EQ(gather_part(storage, shape, strides, {first, count}, most), dense.substr(first * 2, count * 2));
  }
}

TEST(GatherPiece, RepeatsElementsOfExpandedDimensions) {
  const std::string storage = sample_bytes(100);
  const Numbers shape = {3, 2}, strides = {0, 1};
  EXPECT_EQ(gather_part(storage, shape, strides, {0, 6}, kAll), gathered_by_hand(storage.substr(6), shape, strides));
}

TEST(GatherPiece, GathersStretchesThatAreTooLongToBeReadAtOnce) {
  const std::string storage = sample_bytes(30 << 20);
  const Numbers shape = {5, 3}, strides = {1, 5'000'000};
  EXPECT_EQ(gather_part(storage, shape, strides, {0, 15}, 1 << 20),
            gathered_by_hand(storage.substr(6), shape, strides));
}

TEST(GatherPiece, GathersLargeTransposedChunksColumnByColumn) {
  const Numbers shape = {3000, 20, 100}, strides = {1, 3000, 60000};
  const std::string storage = sample_bytes(12'000'006, 7);
  const std::string dense = gathered_by_hand(storage.substr(6), shape, strides);
  for (const Piece piece : {Piece{0, 4000}, Piece{1234, 567}, Piece{5'999'000, 1000}, Piece{1999, 2}}) {
    EXPECT_EQ(gather_part(storage, shape, strides, piece, 1 << 20), dense.substr(piece.first * 2, piece.count * 2));
  }
}

TEST(Gather, GathersTheWholeChunk) {
  const std::string storage = sample_bytes(24);
  const Numbers shape = {3, 4}, strides = {1, 3}, offsets = {0, 0};
  const Payload payload{.strides = strides};
  const std::vector<std::byte> dense =
      gather(MemorySource(as_bytes(storage)), payload,
             {.name = "w", .dtype = DType::float16, .sizes = shape, .offsets = offsets});
  EXPECT_EQ(as_text(dense), gathered_by_hand(storage, shape, strides));
}

/// The row-major bytes of a tensor in a real file.
std::string dense_bytes(const Source& file, const zip::Directory& directory, const StoredTensor& tensor) {
  const zip::Record* storage = directory.find("data/" + std::string(tensor.storage.key));
  const Numbers offsets(tensor.shape.size(), 0);
  const std::uint64_t skipped = static_cast<std::uint64_t>(tensor.storage_offset) * item_size(tensor.dtype);
  std::vector<std::byte> dense = gather(file, {.offset = storage->data + skipped, .strides = tensor.strides},
                                        {.name = "", .dtype = tensor.dtype, .sizes = tensor.shape, .offsets = offsets});
  apply_lazy_bits(tensor.lazy, tensor.dtype, dense);
  return std::string(as_text(dense));
}

/// Views, transposed, expanded, strided and conjugated tensors that torch saved, against its own contiguous copies.
TEST(Gather, AgreesWithTorchsOwnContiguousCopies) {
  std::size_t seen = 0;
  for (const char* version : {"torch-2.0.1", "torch-2.13.0"}) {
    const std::string folder = test_data(std::string(version) + "/full");
    FileSet files(folder);
    const auto file = files.source(files.add("layouts.pt"));
    zip::Directory directory;
    directory.read(*file);
    const zip::Record* pickled = directory.find("data.pkl");
    pickle::Values values;
    const pickle::NodeId root = pickle::Machine().read(SliceSource(*file, pickled->data, pickled->size), values);
    for (const ExpectedTensor& expected : read_manifest(folder + "/manifest.json").tensors) {
      if (!expected.name.starts_with("layouts.")) continue;
      const auto tensor = tensor_of(values, values.find(root, expected.name.substr(8)));
      ASSERT_TRUE(tensor.has_value()) << expected.name;
      EXPECT_EQ(Sha256::hex(dense_bytes(*file, directory, *tensor)), expected.sha256) << expected.name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20U);
}

}  // namespace
}  // namespace fsdpckpt
