// Any bytes as a zstd stream, and as a compressed item that a tensor is copied from. The input starts with what the
// metadata is to say of the item: dtype, number of dimensions, and their sizes, a byte each.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "exec/chunk_reader.h"
#include "fuzz/own_folder.h"
#include "fuzz/target.h"
#include "io/byte_reader.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr std::uint64_t kMostDecoded = 1 << 20;
constexpr std::uint64_t kMostElements = 1 << 12;

struct Expected {
  DType dtype = DType::uint8;
  std::vector<std::int64_t> shape;
};

Expected take_expected(Taker& from) {
  Expected expected{.dtype = static_cast<DType>(from.byte() % kDTypeCount)};
  expected.shape.resize(from.byte() % 4);
  std::uint64_t elements = 1;
  for (std::int64_t& size : expected.shape) {
    size = static_cast<std::int64_t>(std::min<std::uint64_t>(from.byte(), kMostElements / elements));
    elements *= static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
  }
  return expected;
}

/// Counts the bytes of the stream, as far as it can be decoded.
void count_bytes(const Source& source, std::uint64_t& count) {
  ZstdReader reader(source);
  for (count = 0; count < kMostDecoded && !reader.at_end(); ++count) reader.next();
}

/// In runs and passed over, the stream is as long as byte by byte.
void decode_in_runs(const Source& source, std::uint64_t length) {
  ZstdReader runs(source);
  std::vector<std::byte> run(1000);
  for (std::uint64_t left = length; left > 0;) {
    const std::uint64_t count = std::min<std::uint64_t>(left, run.size());
    if (left % 3 == 0)
      runs.skip(count);
    else if (left % 3 == 1)
      runs.take(count);
    else
      runs.read(MutableBytes(run).first(count));
    left -= count;
  }
  require(runs.offset() == length);
  if (length < kMostDecoded) require(runs.at_end());
}

/// One tensor of one chunk, whose item is the file.
Checkpoint checkpoint_of(const OwnFolder& folder, const Expected& expected, std::uint64_t length) {
  Checkpoint checkpoint;
  Checkpoint::Data& data = checkpoint.data();
  data.file_set = std::make_shared<FileSet>(folder.path());
  const Extent extent{
      .file = data.file_set->add("item"), .encoding = Encoding::torch_zip_zstd, .offset = 0, .length = length};
  const std::vector<std::int64_t> zeros(expected.shape.size(), 0);
  const std::uint32_t box = data.index.add_box(zeros, expected.shape);
  const EntryId entry = data.index.add_tensor("w", expected.dtype, expected.shape, box, 1);
  data.index.place(entry, 0, data.index.add_extent(extent));
  return checkpoint;
}

/// Copies the tensor in two halves, as two tiles would.
void copy(const Checkpoint& checkpoint) {
  const Entry entry = checkpoint.entry(0);
  const std::uint64_t bytes = byte_count(entry), elements = element_count(entry);
  RecordWork work(checkpoint.data(), {.source = OutputRecord::Source::tensor, .entry = 0}, bytes);
  ReadCounters counters;
  ChunkReader reader(*checkpoint.data().file_set, ReadOptions(), counters);
  for (const auto& [begin, end] : {std::pair{std::uint64_t{0}, elements / 2}, std::pair{elements / 2, elements}}) {
    work.for_each_piece(begin, end, [&](SourceChunk& chunk, const Piece& piece) {
      std::vector<std::byte> out(piece.count * work.item_size());
      reader.read(chunk, work.item_size(), piece, out);
    });
  }
}

}  // namespace

/// A stream that breaks at once is not tried as an item too.
int judge(Input input) {
  static const OwnFolder folder;
  Taker taker(input);
  const Expected expected = take_expected(taker);
  const Bytes stream = bytes_of(taker.rest());
  const MemorySource source(stream, "stream");
  std::uint64_t length = 0;
  const int decoded = verdict_of([&] { count_bytes(source, length); });
  if (length == 0 && decoded != kExitDone) return decoded;
  if (decoded == kExitDone) decode_in_runs(source, length);
  folder.write("item", as_text(stream));
  const int copied = verdict_of([&] { copy(checkpoint_of(folder, expected, stream.size())); });
  return copied == kExitDone ? decoded : copied;
}

}  // namespace fsdpckpt::fuzz
