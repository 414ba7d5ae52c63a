// A checkpoint of a thousand ranks: two million chunks may cost 128 bytes each, names apart, at every moment of
// reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "formats/dcp_reader.h"
#include "formats/large_metadata.h"
#include "io/temp_dir.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kMaxBytesAChunk = 128;
constexpr std::uint64_t kMaxBytesAName = 1024;       ///< of an entry: its name, its path, its places in maps
constexpr std::uint64_t kWorkingMemory = 16U << 20;  ///< buffers and what the pickle machine holds of small things

/// Anonymous memory of this process, bytes (proc(5), RssAnon).
std::uint64_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib << 10;
  }
  return 0;
}

/// Watches the process's anonymous memory from another thread.
class PeakWatch {
 public:
  PeakWatch() : before_(anonymous_memory()), thread_([this] { watch(); }) {}
  ~PeakWatch() { stop(); }
  /// Growth at the worst moment, bytes.
  std::uint64_t stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    return peak_ - before_;
  }

 private:
  void watch() {
    while (!done_) {
      peak_ = std::max(peak_, anonymous_memory());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    peak_ = std::max(peak_, anonymous_memory());
  }

  std::uint64_t before_;
  std::uint64_t peak_ = before_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

void expect_bounded(const LargeMetadata& shape) {
  const TempDir directory;
  const std::uint64_t pickle_bytes = write_large_metadata(shape, directory.path(".metadata"));
  for (int rank = 0; rank < kLargeRanks; ++rank) {
    directory.write(large_file(rank), "");
    std::filesystem::resize_file(directory.path(large_file(rank)),
                                 static_cast<std::uint64_t>(shape.tensors) * kLargeItem);
  }
  const std::uint64_t chunks = static_cast<std::uint64_t>(shape.tensors) * static_cast<std::uint64_t>(shape.chunks);
  EXPECT_GT(pickle_bytes / chunks, 100U) << "as large as torch writes it";

  PeakWatch watch;
  const auto start = std::chrono::steady_clock::now();
  const Checkpoint checkpoint = open_dcp(directory.path());
  const std::uint64_t peak = watch.stop();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const std::uint64_t names = static_cast<std::uint64_t>(shape.tensors + kLargeRanks) * kMaxBytesAName;
  EXPECT_LE(checkpoint.index_bytes(), kMaxBytesAChunk * chunks + names);
  EXPECT_LE(peak, kMaxBytesAChunk * chunks + names + kWorkingMemory);
  EXPECT_EQ(checkpoint.entry_count(), static_cast<std::size_t>(shape.tensors));
  const Chunk last =
      checkpoint.chunk(static_cast<EntryId>(shape.tensors - 1), static_cast<std::uint64_t>(shape.chunks) - 1);
  EXPECT_TRUE(last.is_stored);
  EXPECT_EQ(last.offsets[0], (shape.chunks - 1) * 64);
  EXPECT_EQ(checkpoint.files()[last.extent.file].path, large_file((shape.chunks - 1) % kLargeRanks));
  std::printf("%llu chunks, %.0f MB of pickle, %.1f s: index %.1f, peak %.1f bytes a chunk\n",
              static_cast<unsigned long long>(chunks), static_cast<double>(pickle_bytes) / 1e6, seconds,
              static_cast<double>(checkpoint.index_bytes()) / static_cast<double>(chunks),
              static_cast<double>(peak) / static_cast<double>(chunks));
}

TEST(MetadataMemory, TwoMillionChunksOfAThousandRanks) { expect_bounded({.tensors = 2000, .chunks = 1000}); }

TEST(MetadataMemory, TwoMillionChunksOfFewTensors) { expect_bounded({.tensors = 2, .chunks = 1'000'000}); }

TEST(MetadataMemory, TwoMillionChunksThatShareTheirOffsets) {
  expect_bounded({.tensors = 2000, .chunks = 1000, .shared_offsets = true});
}

TEST(MetadataMemory, TwoMillionChunksAfterTheirStoredItems) {
  expect_bounded({.tensors = 2000, .chunks = 1000, .storage_data_first = true});
}

}  // namespace
}  // namespace fsdpckpt
