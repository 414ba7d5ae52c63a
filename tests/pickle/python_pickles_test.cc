// Pickles that Python wrote are read as Python's values.
#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "pickle/tree_text.h"
#include "pickle/writer.h"

namespace fsdpckpt::pickle {
namespace {

using namespace std::string_literals;

struct PythonPickle {
  const char* name;
  std::string pickle;
  std::string text;
};

void PrintTo(const PythonPickle& pickle, std::ostream* out) { *out << pickle.name; }

const PythonPickle kPickles[] = {
#include "python_pickles.inc"
};

class PythonPickles : public testing::TestWithParam<PythonPickle> {};

TEST_P(PythonPickles, AreReadInTwoPasses) { EXPECT_EQ(Tree(GetParam().pickle).text(), GetParam().text); }

TEST_P(PythonPickles, AreReadInOnePass) {
  MemoryReader bytes(as_bytes(GetParam().pickle));
  Values values;
  const NodeId root = Machine().read(bytes, values);
  EXPECT_EQ(TreeText(values).of(root), GetParam().text);
  EXPECT_TRUE(bytes.at_end());
}

TEST_P(PythonPickles, EndEarlyWhereverTheyAreCut) {
  const std::string_view pickle = GetParam().pickle;
  for (std::size_t size = 0; size < pickle.size(); size += pickle.size() / 500 + 1) {
    EXPECT_THROW(Tree(pickle.substr(0, size)), Error) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols2To5, PythonPickles, testing::ValuesIn(kPickles),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fsdpckpt::pickle
