#include "report/weights_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pickle/machine.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> refused_in(std::string_view pickled) {
  const auto document = std::make_shared<Document>();
  document->root = pickle::Machine().read(MemorySource(as_bytes(pickled)), document->values);
  return refused_globals({.document = document, .node = document->root});
}

TEST(WeightsOnly, NamesWhatNoTorchAccepts) {
  EXPECT_THAT(refused_in("](K\1ccollections\nOrderedDict\n)Re."), IsEmpty());
  EXPECT_THAT(refused_in("](cargparse\nNamespace\n)\x81}bcusercfg\nTrainConfig\n)\x81}be."),
              ElementsAre("argparse.Namespace", "usercfg.TrainConfig"));
}

TEST(WeightsOnly, SaysItShortly) {
  EXPECT_EQ(refusal_text({}), "");
  EXPECT_EQ(refusal_text({"a.B"}), "refuses a.B");
  EXPECT_EQ(refusal_text({"a\x1b.B", "c.D", "e.F"}), "refuses a\\x1b.B and 2 more");
}

}  // namespace
}  // namespace fsdpckpt
