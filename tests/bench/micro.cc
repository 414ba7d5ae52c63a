// Micro benchmarks of what is done once an item, a chunk or a tile: where a change in these shows before the whole run
// is slower.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "formats/dcp_reader.h"
#include "formats/payload.h"
#include "io/crc32.h"
#include "plan/pieces.h"

namespace {

using namespace fsdpckpt;

const std::string kCheckpoint = FSDPCKPT_TESTDATA "/lightning-2.6.6/fabric_fsdp";

void open_sharded_directory(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(open_dcp(kCheckpoint).entry_count());
}
BENCHMARK(open_sharded_directory);

/// One item of the size most items of many-tensor checkpoints have.
void find_payload_of_item(benchmark::State& state) {
  const Checkpoint checkpoint = open_dcp(kCheckpoint);
  const EntryId id = checkpoint.find("model.emb.weight");
  const Entry entry = checkpoint.entry(id);
  const Chunk chunk = checkpoint.chunk(id, 0);
  std::ifstream file(kCheckpoint + "/" + checkpoint.files()[chunk.extent.file].path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const MemorySource source(std::as_bytes(std::span(bytes)).subspan(chunk.extent.offset, chunk.extent.length));
  PayloadFinder finder;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        finder
            .in_archive(source,
                        {.name = entry.name, .dtype = entry.dtype, .sizes = chunk.sizes, .offsets = chunk.offsets})
            .offset);
  }
}
BENCHMARK(find_payload_of_item);

void crc32_of_tile(benchmark::State& state) {
  const std::vector<std::byte> tile(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(crc32(tile));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32_of_tile)->Arg(4 << 10)->Arg(1 << 20);

void crc32_shift_by_tile(benchmark::State& state) {
  std::uint32_t crc = 1;
  for (auto _ : state) benchmark::DoNotOptimize(crc = crc32_shift(crc, 1 << 20));
}
BENCHMARK(crc32_shift_by_tile);

/// A column shard: 2,048 runs of 512 bytes.
void runs_of_column_shard(benchmark::State& state) {
  const std::vector<std::int64_t> shape = {2048, 1024}, offsets = {0, 256}, sizes = {2048, 128};
  const BoxInTensor box{.shape = shape, .offsets = offsets, .sizes = sizes};
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for_each_run(box, piece_of(box, 0, 2048 * 1024), [&](const Run& run) { sum += run.to; });
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(runs_of_column_shard);

}  // namespace

BENCHMARK_MAIN();
