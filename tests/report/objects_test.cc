#include "report/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoints.h"
#include "pickle/machine.h"

namespace fsdpckpt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// An object entry whose value is `pickled`.
ShownObject shown(std::string_view pickled) {
  const auto document = std::make_shared<Document>();
  document->root = pickle::Machine().read(MemorySource(as_bytes(pickled)), document->values);
  Checkpoint checkpoint;
  const EntryId id = add_object(checkpoint, "x");
  checkpoint.data().parts.emplace(id, DocumentPart{document, document->root});
  return read_objects(checkpoint.data(), {id}, 60).at(0);
}

TEST(Objects, NameWhatNoTorchAccepts) {
  const ShownObject plain = shown("](K\1ccollections\nOrderedDict\n)Re.");
  EXPECT_THAT(plain.globals, ElementsAre("collections.OrderedDict"));
  EXPECT_THAT(plain.refused, IsEmpty());
  EXPECT_EQ(plain.needs_torch, "2.0");
  EXPECT_EQ(plain.value, "[1, {}]");
  EXPECT_THAT(shown("](cargparse\nNamespace\n)\x81}bcusercfg\nTrainConfig\n)\x81}be.").refused,
              ElementsAre("argparse.Namespace", "usercfg.TrainConfig"));
}

TEST(Objects, AreGivenInOrderAndThoseInNoFileWithTheirError) {
  Checkpoint checkpoint;
  add_whole(checkpoint, "tensor", {2});
  const EntryId id = add_object(checkpoint, "lost");
  const auto objects = read_objects(checkpoint.data(), {0, id}, 60);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].entry, id);
  ASSERT_TRUE(objects[0].error);
  EXPECT_STREQ(objects[0].error->what(), "the object is in no file");
}

std::string text_of(std::vector<std::string> globals, std::vector<std::string> refused) {
  ShownObject object;
  object.globals = std::move(globals);
  object.refused = std::move(refused);
  return globals_text(object);
}

TEST(Objects, ShowTheirGlobalsShortly) {
  EXPECT_EQ(text_of({}, {}), "");
  EXPECT_EQ(text_of({"a.B", "c.D"}, {}), "a.B, c.D");
  EXPECT_EQ(text_of({"a.B"}, {"a.B"}), "a.B (weights_only refuses it)");
  EXPECT_EQ(text_of({"a.A", "b\x1b.B", "c.C", "d.D", "e.E"}, {"b\x1b.B"}),
            "b\\x1b.B, a.A, c.C, … 2 more (weights_only refuses 1 of 5)");
  EXPECT_EQ(text_of({}, {"builtins.frozenset"}), "builtins.frozenset (weights_only refuses it)")
      << "a frozenset is refused although no pickle names it";
}

}  // namespace
}  // namespace fsdpckpt
