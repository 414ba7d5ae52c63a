// Files written front to back to a descriptor that only appends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/sha256.h"
#include "exec/consolidated.h"
#include "formats/manifest.h"

namespace fsdpckpt {
namespace {

/// Writes into one end of a pipe while the other end is read, as a shell would.
std::string through_pipe(const std::string& source) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::string bytes;
  std::thread reader([&] {
    std::array<char, 65536> block;
    for (ssize_t got; (got = read(ends[0], block.data(), block.size())) > 0;) bytes.append(block.data(), got);
  });
  std::uint64_t size = 0;
  EXPECT_NO_THROW({
    Checkpoint checkpoint = open_checkpoint(source);
    size = consolidate_to_stream(checkpoint, ends[1], {}).file_bytes;
  });
  close(ends[1]);  // the reader's end of file, also after an error
  reader.join();
  close(ends[0]);
  EXPECT_EQ(bytes.size(), size);
  return bytes;
}

class StreamOutput : public testing::TestWithParam<Fixture> {};

TEST_P(StreamOutput, HoldsTheManifestsBytes) {
  const TempDir directory;
  directory.write("piped.pt", through_pipe(GetParam().directory));
  const Tensors tensors = read_tensors(directory.path("piped.pt"));
  for (const ExpectedTensor& expected : read_manifest(GetParam().manifest).tensors) {
    const auto found = tensors.find(expected.name);
    ASSERT_NE(found, tensors.end()) << expected.name;
    EXPECT_EQ(Sha256::hex(found->second.bytes), expected.sha256) << expected.name;
  }
}

INSTANTIATE_TEST_SUITE_P(TestData, StreamOutput, testing::ValuesIn(fixtures()), fixture_name);

TEST(StreamOutput, OfADryRunIsEmpty) {
  Checkpoint checkpoint = open_checkpoint(fixtures().front().directory);
  const ConsolidateReport report = consolidate_to_stream(checkpoint, -1, {.dry_run = true});
  EXPECT_GT(report.file_bytes, 0U);
}

}  // namespace
}  // namespace fsdpckpt
