// Objects carried over: what each policy takes, and that values stay what they are.
#include "formats/object_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using pickle::Writer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void call(Writer& writer, const char* module, const char* name) {
  writer.global(module, name);
  writer.text("argument");
  writer.tuple(1);
  writer.reduce();
}

void system_call(Writer& writer) { call(writer, "os", "system"); }
void user_object(Writer& writer) { call(writer, "usercfg", "TrainConfig"); }
void plain_value(Writer& writer) { writer.text("plain"); }

/// A checkpoint of one object entry "extra".
class WithObject {
 public:
  explicit WithObject(const std::string& item, bool is_compressed = false) {
    DcpBuilder builder;
    builder.add_object("extra", item, {}, is_compressed);
    builder.write(directory_);
  }
  explicit WithObject(const std::function<void(Writer&)>& write) : WithObject(object_item(write)) {}

  TorchFilePlan plan(ObjectPolicy policy, bool keep_device = false) const {
    const Checkpoint checkpoint = open_dcp(directory_.path());
    return plan_torch_file(checkpoint.data(), select(checkpoint.data(), {}), policy, keep_device);
  }
  /// data.pkl as text.
  std::string text(ObjectPolicy policy, bool keep_device = false) const {
    return pickle::Tree(plan(policy, keep_device).records.at(0).text).text();
  }
  Error refusal(ObjectPolicy policy) const {
    return error_of([&] { plan(policy); });
  }

 private:
  TempDir directory_;
};

TEST(ObjectPolicyKeep, CarriesUnknownClassesOverAndNotesThem) {
  const WithObject object(user_object);
  EXPECT_EQ(object.text(ObjectPolicy::keep), "{'extra': call(<usercfg.TrainConfig>, ('argument'))}");
  EXPECT_THAT(object.plan(ObjectPolicy::keep).notes,
              ElementsAre(AllOf(HasSubstr("weights_only=False"), HasSubstr("'usercfg.TrainConfig'"))));
}

TEST(ObjectPolicyKeep, RefusesWhatOnlyAnAttackPicklesNamingGlobalAndEntry) {
  const Error error = WithObject(system_call).refusal(ObjectPolicy::keep);
  EXPECT_EQ(error.kind(), ErrorKind::refused);
  EXPECT_THAT(error.what(), HasSubstr("'os.system'"));
  EXPECT_EQ(error.where().entry, "extra");
  EXPECT_THAT(error.where().path, HasSubstr("__0_0.distcp"));
}

TEST(ObjectPolicyKeep, SaysNothingOfPlainValues) {
  const WithObject object(plain_value);
  EXPECT_EQ(object.text(ObjectPolicy::keep), "{'extra': 'plain'}");
  EXPECT_THAT(object.plan(ObjectPolicy::keep).notes, IsEmpty());
}

TEST(ObjectPolicyKeep, NotesTheTorchThatBytesNeed) {
  const WithObject object([](Writer& writer) { writer.bytes("raw"); });
  EXPECT_THAT(object.plan(ObjectPolicy::keep).notes, ElementsAre(HasSubstr("from torch 2.5 on")));
}

TEST(ObjectPolicySafe, RefusesWhatWeightsOnlyRefuses) {
  const Error error = WithObject(user_object).refusal(ObjectPolicy::safe);
  EXPECT_EQ(error.kind(), ErrorKind::refused);
  EXPECT_THAT(error.what(), HasSubstr("'usercfg.TrainConfig'"));
  EXPECT_EQ(error.where().entry, "extra");
}

TEST(ObjectPolicySafe, RefusesAttacks) {
  EXPECT_EQ(WithObject(system_call).refusal(ObjectPolicy::safe).kind(), ErrorKind::refused);
}

TEST(ObjectPolicySafe, TakesPlainValues) {
  EXPECT_EQ(WithObject(plain_value).text(ObjectPolicy::safe), "{'extra': 'plain'}");
}

TEST(ObjectPolicyAll, CarriesEverythingOver) {
  EXPECT_EQ(WithObject(system_call).text(ObjectPolicy::all), "{'extra': call(<os.system>, ('argument'))}");
}

TEST(ObjectPolicyDrop, LeavesObjectsOutAndSaysSo) {
  const WithObject object(system_call);
  EXPECT_EQ(object.text(ObjectPolicy::drop), "{}");
  EXPECT_THAT(object.plan(ObjectPolicy::drop).notes, ElementsAre(HasSubstr("1 object is left out")));
}

// flatten_state_dict=False pickles one rank's ShardedTensors into an object (fixture st_w2_noflatten).
TEST(ObjectPolicyAny, RefusesPartsOfShardedTensors) {
  for (const auto& [module, name] : {std::pair("torch.distributed._shard.sharded_tensor.api", "ShardedTensor"),
                                     {"torch.distributed.tensor", "DTensor"},
                                     {"torch.distributed._tensor.api", "DTensor"}}) {
    const WithObject object([m = module, n = name](Writer& writer) { call(writer, m, n); });
    for (const ObjectPolicy policy : {ObjectPolicy::keep, ObjectPolicy::safe, ObjectPolicy::all}) {
      const Error error = object.refusal(policy);
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), HasSubstr("sharded tensors of one rank only"));
      EXPECT_EQ(error.where().entry, "extra");
    }
    EXPECT_EQ(object.text(ObjectPolicy::drop), "{}");
  }
}

std::string tensor_pair(const std::string& location) {
  return object_item(
      [&](Writer& writer) {
        write_test_tensor(writer, {.shape = {2}, .storage = std::string(8, 'a'), .location = location}, "0");
        write_test_tensor(writer, {.shape = {1}, .storage = std::string(8, 'a'), .location = location}, "0");
        writer.tuple(2);
      },
      {std::string(8, 'a')});
}

TEST(ObjectStorages, GetRecordsOfTheOutputAndStayShared) {
  for (const bool is_compressed : {false, true}) {
    const WithObject object(tensor_pair("cpu"), is_compressed);
    const TorchFilePlan plan = object.plan(ObjectPolicy::keep);
    std::size_t storages = 0;
    for (const OutputRecord& record : plan.records) storages += record.source == OutputRecord::Source::storage ? 1 : 0;
    EXPECT_EQ(storages, 1U);
    const std::string text = pickle::Tree(plan.records[0].text).text();
    EXPECT_THAT(text, HasSubstr("'0', 'cpu', 2)), 0, (2), (1)"));
    EXPECT_THAT(text, HasSubstr("'0', 'cpu', 2)), 0, (1), (1)"));
  }
}

TEST(ObjectStorages, AreWrittenAsCpuUnlessDevicesAreKept) {
  const WithObject object(tensor_pair("cuda:3"));
  EXPECT_THAT(object.text(ObjectPolicy::keep), Not(HasSubstr("cuda")));
  EXPECT_THAT(object.text(ObjectPolicy::keep, true), HasSubstr("'cuda:3'"));
}

TEST(ObjectStorages, ThatAreMissingAreRefused) {
  const auto write = [](Writer& writer) {
    write_test_tensor(writer, {.shape = {2}, .storage = std::string(8, 'a')}, "4");
  };
  const Error error = WithObject(object_item(write, {std::string(8, 'a')})).refusal(ObjectPolicy::keep);
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("'data/4'"));
  EXPECT_EQ(error.where().entry, "extra");
}

TEST(ObjectStorages, OfAnotherSizeThanDeclaredAreRefused) {
  const auto write = [](Writer& writer) { write_test_tensor(writer, {.shape = {2}, .storage = std::string(8, 'a')}); };
  EXPECT_EQ(WithObject(object_item(write, {"short"})).refusal(ObjectPolicy::keep).kind(), ErrorKind::input);
}

/// Rank-local metadata: two copies of one object.
std::vector<std::string> notes_of_copies(int first, int second) {
  const TempDir directory;
  for (int rank : {0, 1}) {
    const std::string item = object_item([&](Writer& writer) { writer.integer(rank == 0 ? first : second); });
    const std::string file = "__" + std::to_string(rank) + "_0.distcp";
    directory.write(file, item);
    const TestChunk chunk{.file = file, .length = item.size()};
    directory.write("__" + std::to_string(rank) + ".metadata",
                    metadata_of({{.name = "rng", .dtype = "", .chunks = {chunk}}}));
  }
  const Checkpoint checkpoint = open_dcp(directory.path());
  const TorchFilePlan plan =
      plan_torch_file(checkpoint.data(), select(checkpoint.data(), {}), ObjectPolicy::keep, false);
  EXPECT_EQ(pickle::Tree(plan.records[0].text).text(), "{'rng': " + std::to_string(first) + "}");
  return plan.notes;
}

TEST(ObjectCopies, ThatAgreeAreTakenOnce) { EXPECT_THAT(notes_of_copies(4, 4), IsEmpty()); }

TEST(ObjectCopies, ThatDifferGiveTheLowestRanksAndANote) {
  EXPECT_THAT(notes_of_copies(4, 5), ElementsAre(HasSubstr("'rng' differs between ranks")));
}

}  // namespace
}  // namespace fsdpckpt
