// A thousand single flipped bits in bytes that a checksum covers: each is found, and the right tensor named.
#include <fsdpckpt/convert.h>
#include <fsdpckpt/open.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/error_of.h"
#include "io/temp_dir.h"
#include "model/checkpoint_data.h"
#include "zip/directory.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr int kFlips = 1000;

/// A record with a checksum, in a rank file.
struct Covered {
  std::string path;
  std::uint64_t begin, size;
  std::string entry;
};

std::vector<Covered> covered_records(const std::string& directory) {
  const Checkpoint checkpoint = open_checkpoint(directory);
  const Checkpoint::Data& data = checkpoint.data();
  std::vector<Covered> records;
  for (EntryId id = 0; id < data.index.entry_count(); ++id) {
    const Entry entry = data.index.entry(id);
    for (std::uint64_t i = 0; entry.kind == EntryKind::tensor && i < entry.chunk_count; ++i) {
      const Chunk chunk = data.index.chunk(id, i);
      if (!chunk.is_stored || std::ranges::find(chunk.sizes, 0) != chunk.sizes.end()) continue;  // empty ones: not read
      const auto file = data.file_set->source(chunk.extent.file);
      zip::Directory archive;
      archive.read(SliceSource(*file, chunk.extent.offset, chunk.extent.length));
      for (const char* name : {"data/0", "data.pkl"}) {
        const zip::Record* record = archive.find(name);
        if (record == nullptr || record->crc == 0 || record->size == 0) continue;
        records.push_back({file->name(), chunk.extent.offset + record->data, record->size, std::string(entry.name)});
      }
    }
  }
  return records;
}

void flip(const std::string& path, std::uint64_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const int before = file.get();
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(static_cast<char>(before ^ (1 << bit)));
  ASSERT_TRUE(file.good());
}

void consolidate_from(const TempDir& source, const TempDir& target) {
  Checkpoint checkpoint = open_checkpoint(source.path());
  consolidate(checkpoint, target.path("out.pt"), {.replace = true, .sync = false, .threads = 1});
}

TEST(PayloadFlips, AreAllFoundAndNameTheRightTensor) {
  const TempDir source, target;
  for (const auto& item : std::filesystem::directory_iterator(FSDPCKPT_TESTDATA "/torch-2.13.0/dt_rs0_2x2"))
    std::filesystem::copy(item, source.path());
  consolidate_from(source, target);
  target.remove("out.pt");
  const std::vector<Covered> records = covered_records(source.path());
  ASSERT_GT(records.size(), 4U);
  std::mt19937 random(20250301);
  for (int i = 0; i < kFlips; ++i) {
    const Covered& record = records[random() % records.size()];
    const std::uint64_t byte = record.begin + random() % record.size;
    const int bit = static_cast<int>(random() % 8);
    flip(record.path, byte, bit);
    const Error error = error_of([&] { consolidate_from(source, target); });
    flip(record.path, byte, bit);
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    EXPECT_EQ(error.where().entry, record.entry) << record.path << " byte " << byte << ": " << error.what();
    EXPECT_TRUE(target.names().empty());
  }
}

}  // namespace
}  // namespace fsdpckpt::fuzz
