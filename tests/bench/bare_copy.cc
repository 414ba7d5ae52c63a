// bare_copy SRC DST: the least that any consolidation has to do, as the limit to measure against.
//
// Two threads take blocks of the files of SRC in turn, read them (pread), take their CRC-32, and write them (pwrite)
// one behind the other into DST. No metadata is read, nothing is arranged, no error is explained.
#include <fcntl.h>
#include <isa-l/crc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kBlock = 1 << 20;
constexpr std::uint64_t kStart = 64;  // nothing in a zip lies on a page boundary by itself
constexpr int kThreads = 2;

struct Block {
  int file;
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t size;
};

void must(bool ok, const std::string& what) {
  if (ok) return;
  std::perror(what.c_str());
  std::exit(1);
}

/// The blocks of all files below `folder`, in name order; `to` counts on through DST.
std::vector<Block> blocks_of(const std::string& folder, std::uint64_t& end) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Block> blocks;
  end = kStart;
  for (const auto& path : files) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    must(file >= 0, path.string());
    const std::uint64_t size = std::filesystem::file_size(path);
    for (std::uint64_t at = 0; at < size; at += kBlock) {
      blocks.push_back({file, at, end + at, std::min(kBlock, size - at)});
    }
    end += size;
  }
  return blocks;
}

void read_all(int file, std::uint8_t* data, std::uint64_t size, std::uint64_t at) {
  while (size > 0) {
    const ssize_t n = pread(file, data, size, static_cast<off_t>(at));
    must(n > 0, "pread");
    data += n, at += static_cast<std::uint64_t>(n), size -= static_cast<std::uint64_t>(n);
  }
}

void write_all(int file, const std::uint8_t* data, std::uint64_t size, std::uint64_t at) {
  while (size > 0) {
    const ssize_t n = pwrite(file, data, size, static_cast<off_t>(at));
    must(n > 0, "pwrite");
    data += n, at += static_cast<std::uint64_t>(n), size -= static_cast<std::uint64_t>(n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bare_copy SRC DST\n");
    return 2;
  }
  std::uint64_t end = 0;
  const std::vector<Block> blocks = blocks_of(argv[1], end);
  const int out = open(argv[2], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  must(out >= 0, argv[2]);
  must(ftruncate(out, static_cast<off_t>(end)) == 0, "ftruncate");

  std::atomic<std::size_t> next{0};
  std::atomic<std::uint32_t> sum{0};  // keeps the CRCs from being optimised away
  const auto work = [&] {
    std::vector<std::uint8_t> buffer(kBlock);
    for (std::size_t i = next++; i < blocks.size(); i = next++) {
      const Block& block = blocks[i];
      read_all(block.file, buffer.data(), block.size, block.from);
      sum ^= crc32_gzip_refl(0, buffer.data(), block.size);
      write_all(out, buffer.data(), block.size, block.to);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < kThreads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  must(close(out) == 0, "close");
  std::printf("%08x\n", sum.load());
  return 0;
}
