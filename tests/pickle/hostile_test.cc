// Damaged and random pickles give an answer or an Error, never more.
#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "pickle/globals.h"
#include "pickle/metadata_pickle.h"
#include "pickle/tree_text.h"
#include "pickle/writer.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

/// Folds every second thing it is asked about.
class MoodyFolder : public Folder {
 public:
  void check_global(std::string_view, std::string_view) override {}
  std::optional<std::uint64_t> fold_reduce(const Values&, NodeId, NodeId) override { return next(); }
  std::optional<std::uint64_t> fold_build(const Values&, NodeId, NodeId) override { return next(); }
  bool take_item(const Values&, Key, NodeId) override { return next().has_value(); }

 private:
  std::optional<std::uint64_t> next() { return ++asked_ % 2 == 0 ? std::optional(asked_) : std::nullopt; }
  std::uint64_t asked_ = 0;
};

template <class Call>
void answer_or_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::input) << error.what();
  }
}

void visit_all(const Values& values, NodeId root) {
  scan_globals(values, root);
  Writer writer;
  TreeWriter(writer, values, nullptr).write(root);
}

void read_every_way(std::string_view pickle) {
  constexpr Limits kLimits{.memory = 1 << 20};
  answer_or_error([&] {
    const Tree tree(pickle, nullptr, kLimits);
    visit_all(tree.values, tree.root);
  });
  answer_or_error([&] {
    MoodyFolder folder;
    const Tree tree(pickle, &folder, kLimits);
    scan_globals(tree.values, tree.root);
  });
  answer_or_error([&] {
    MemoryReader bytes(as_bytes(pickle));
    Values values;
    MoodyFolder folder;
    scan_globals(values, Machine(kLimits).read(bytes, values, &folder));
  });
}

std::string tensor_pickle() {
  return "\x80\2ctorch._utils\n_rebuild_tensor_v2\nq\0((X\7\0\0\0storageq\1ctorch\nFloatStorage\nq\2X\1\0\0\0"
         "0q\3X\3\0\0\0cpuq\4M\0\4tq\5QK\0K@K@\x86q\6K@K\1\x86q\7\x89"
         "ccollections\nOrderedDict\nq\10)Rq\ttq\nRq\13."s;
}

std::string mixed_pickle() {
  return "\x80\5\x95\x55\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1G?\xf8\0\0\0\0\0\0\x8a\x9\1\2\3\4\5\6\7\x8\x9"
         "e\x8c\1s\x8f\x94(K\1K\2\x90(K\1\x91"
         "C\3abc\x94\x96\2\0\0\0\0\0\0\0hi\x8c\1m\x8c\1C\x93)}\x92\x94}\x94h\1Nsbu."s;
}

const std::string kPickles[] = {tensor_pickle(), mixed_pickle(), metadata_pickle({.chunks = 2, .sizes_shared = true})};

TEST(Hostile, CutAnywhere) {
  for (const std::string& pickle : kPickles) {
    for (std::size_t size = 0; size <= pickle.size(); ++size) read_every_way(pickle.substr(0, size));
  }
}

TEST(Hostile, AnyBitFlipped) {
  for (std::string pickle : kPickles) {
    for (std::size_t bit = 0; bit < pickle.size() * 8; ++bit) {
      pickle[bit / 8] ^= static_cast<char>(1 << bit % 8);
      read_every_way(pickle);
      pickle[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
  }
}

TEST(Hostile, RandomOpcodes) {
  const std::string codes = "(().012KKNNRbbaeqqhhsu]]}}tt\x81\x85\x86\x8f\x90\x91\x92\x93\x94\x94QcXK";
  std::mt19937 random(20240607);
  for (int round = 0; round < 30000; ++round) {
    std::string pickle;
    for (std::size_t length = 1 + random() % 60; length > 0; --length) {
      const char code = codes[random() % codes.size()];
      pickle += code;
      if (code == 'c') pickle += "m\nC\n";
      if (code == 'X') pickle += "\1\0\0\0x"s;
      if (code == 'K' || code == 'q' || code == 'h') pickle += static_cast<char>(random() % 6);
    }
    read_every_way(pickle + ".");
  }
}

TEST(Hostile, DeepListsAreFreedWithoutRecursion) {
  // Linked from the outside in, so that no insertion sees more than two levels.
  const auto slot = [](int i) {
    return std::string{static_cast<char>(i), static_cast<char>(i >> 8), static_cast<char>(i >> 16), 0};
  };
  std::string pickle = "]r" + slot(0);
  for (int i = 0; i < 200000; ++i) pickle += "j" + slot(i) + "]r" + slot(i + 1) + "a0";
  const Tree tree(pickle + ".");
  EXPECT_THROW(visit_all(tree.values, tree.root), Error);
}

TEST(Hostile, SharedValuesAreNotExpanded) {
  std::string pickle = "]\x94";
  for (int i = 0; i < 200; ++i) pickle += "h"s + static_cast<char>(i) + "\x86\x94";
  const Tree tree(pickle + ".");
  visit_all(tree.values, tree.root);
}

}  // namespace
}  // namespace fsdpckpt::pickle
