// Feeds every file below the given folders to the fuzz target: whole, cut in the middle, and with one byte changed. For
// compilers without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& item : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!item.is_regular_file()) continue;
      std::ifstream stream(item.path(), std::ios::binary);
      std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
      ++files;
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size() / 2);
      if (bytes.empty()) continue;
      bytes[bytes.size() / 3] ^= 0x40;
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  }
  std::printf("%zu files replayed\n", files);
  return files == 0 ? 1 : 0;
}
