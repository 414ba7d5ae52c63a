// Replays a corpus, for compilers without libFuzzer: fuzz_TARGET CORPUS TARGET [FOLDER...] judges every file of
// CORPUS/TARGET and holds the verdict against the one in CORPUS/REASONS.md. Then these files and those below the other
// folders once more, cut in the middle and with one bit changed: any verdict is good.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace fsdpckpt::fuzz {
namespace {

namespace fs = std::filesystem;
using Content = std::vector<std::uint8_t>;

Content content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.is_regular_file()) files.push_back(item.path());
  }
  return files;
}

std::string word_of(int verdict) { return verdict == 0 ? "accepted" : "refused " + std::to_string(verdict); }

/// "- `TARGET/NAME` OUTCOME: reason", by TARGET/NAME.
std::map<std::string, std::string> read_outcomes(const fs::path& reasons) {
  std::map<std::string, std::string> outcomes;
  std::ifstream stream(reasons);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t name_end = line.find("` "), colon = line.find(": ", name_end);
    if (!line.starts_with("- `") || colon == std::string::npos) continue;
    outcomes[line.substr(3, name_end - 3)] = line.substr(name_end + 2, colon - name_end - 2);
  }
  return outcomes;
}

/// The number of files whose verdict is another than it should be.
int replay_corpus(const fs::path& corpus, const std::string& target, const std::vector<fs::path>& files) {
  const auto outcomes = read_outcomes(corpus / "REASONS.md");
  int wrong = 0;
  for (const fs::path& file : files) {
    const std::string name = target + "/" + file.filename().string();
    const auto expected = outcomes.find(name);
    const std::string seen = word_of(judge(content_of(file)));
    if (expected != outcomes.end() && (expected->second == seen || expected->second == "any")) continue;
    std::printf("%s: %s, expected: %s\n", name.c_str(), seen.c_str(),
                expected == outcomes.end() ? "no line in REASONS.md" : expected->second.c_str());
    ++wrong;
  }
  return wrong;
}

void replay_damaged(const fs::path& file) {
  Content content = content_of(file);
  judge(content);
  judge(Input(content).first(content.size() / 2));
  if (content.empty()) return;
  content[content.size() / 3] ^= 0x40;
  judge(content);
}

int replay(const fs::path& corpus, const std::string& target, const std::vector<fs::path>& others) {
  std::vector<fs::path> files = files_below(corpus / target);
  if (files.empty()) return 1;
  const int wrong = replay_corpus(corpus, target, files);
  for (const fs::path& folder : others) {
    for (fs::path& file : files_below(folder)) files.push_back(std::move(file));
  }
  for (const fs::path& file : files) replay_damaged(file);
  std::printf("%zu files replayed, %d with another verdict than expected\n", files.size(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fsdpckpt::fuzz

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return fsdpckpt::fuzz::replay(argv[1], argv[2], {argv + 3, argv + argc});
}
