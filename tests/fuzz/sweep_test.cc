// Every flipped bit and every truncation of a small .metadata, of an item and of a torch file: the same answer as the
// original, or an Error; never a signal, never more than 256 MB, never two seconds. Where no check can see the change,
// only the clean ending is asked for. Which bytes these are is said for each file.
#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <set>

#include "fuzz/allocations.h"
#include "fuzz/answers.h"

namespace fsdpckpt::fuzz {
namespace {

constexpr std::int64_t kMostBytes = 256'000'000;
constexpr std::chrono::seconds kMostTime{2};
const std::string kTestData = FSDPCKPT_TESTDATA;

using Answer = std::function<std::string(std::string_view)>;
using Bytes = std::set<std::size_t>;  ///< positions in a file

/// The answer, or "refused".
std::string answer_or_refusal(const Answer& answer, std::string_view mutant) {
  const auto start = std::chrono::steady_clock::now();
  reset_allocations();
  std::string text;
  try {
    text = answer(mutant);
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::input || error.kind() == ErrorKind::refused) << error.what();
    text = "refused";
  }
  EXPECT_LT(allocations().peak, kMostBytes);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kMostTime);
  return text;
}

struct Counts {
  int same = 0, refused = 0, other = 0;
};

Counts flip_every_bit(const std::string& original, const Answer& answer, const Bytes& unseen) {
  const std::string expected = answer(original);
  Counts counts;
  std::string mutant = original;
  for (std::size_t bit = 0; bit < original.size() * 8; ++bit) {
    mutant[bit / 8] = static_cast<char>(mutant[bit / 8] ^ (1 << bit % 8));
    const std::string seen = answer_or_refusal(answer, mutant);
    mutant[bit / 8] = original[bit / 8];
    ++(seen == expected ? counts.same : seen == "refused" ? counts.refused : counts.other);
    EXPECT_TRUE(seen == expected || seen == "refused" || unseen.contains(bit / 8))
        << "bit " << bit % 8 << " of byte " << bit / 8 << " gives another answer:\n"
        << seen;
  }
  return counts;
}

void sweep(const std::string& original, const Answer& answer, const Bytes& unseen) {
  const Counts counts = flip_every_bit(original, answer, unseen);
  for (std::size_t length = 0; length < original.size(); ++length)
    EXPECT_EQ(answer_or_refusal(answer, std::string_view(original).substr(0, length)), "refused") << length;
  std::printf("%zu bits flipped: %d the same, %d refused, %d that no check can see; %zu truncations refused\n",
              original.size() * 8, counts.same, counts.refused, counts.other, original.size());
}

/// What a .metadata says has no checksum: the letters of its texts, its numbers, and which of the values before it
/// means again. Its opcodes and lengths are not among them.
Bytes values_of(const std::string& pickle) {
  Bytes values;
  for (std::size_t at = 0; at < pickle.size();) {
    const char opcode = pickle[at++];
    std::size_t operand = 0;
    if (opcode == '\x8c') operand = static_cast<unsigned char>(pickle[at++]);  // SHORT_BINUNICODE
    if (opcode == 'K' || opcode == 'h') operand = 1;                           // BININT1, BINGET
    if (opcode == 'M') operand = 2;                                            // BININT2
    if (opcode == 'j' || opcode == 'J') operand = 4;                           // LONG_BINGET, BININT
    for (std::size_t i = 0; i < operand; ++i) values.insert(at++);
    if (opcode == '\x80') at += 1;  // PROTO
    if (opcode == '\x95') at += 8;  // FRAME
  }
  return values;
}

TEST(Sweep, OfMetadata) {
  const std::string directory = kTestData + "/torch-2.4.1/dt_s0_w2", original = content_of(directory + "/.metadata");
  sweep(
      original, [&](std::string_view mutant) { return metadata_answer(directory, mutant); }, values_of(original));
}

TEST(Sweep, OfAnItem) { sweep(content_of(FSDPCKPT_ZIP_DATA "/torch-2.13.0-tensor-item.pt"), item_answer, {}); }

TEST(Sweep, OfATorchFile) { sweep(content_of(kTestData + "/torch-2.0.1/full/float32.pt"), torch_file_answer, {}); }

}  // namespace
}  // namespace fsdpckpt::fuzz
