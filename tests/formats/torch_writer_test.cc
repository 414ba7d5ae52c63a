// The planned torch file: records, places, nesting. Rules: what torch 2.0 to 2.15 were seen to demand.
#include "formats/torch_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "pickle/opcode.h"
#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using Position = std::int64_t;
using testing::ElementsAre;
using testing::HasSubstr;

class Plan : public testing::Test {
 protected:
  void add(const std::string& name, std::vector<PathElement> path, const std::string& dtype = "uint8",
           std::vector<std::int64_t> shape = {2}) {
    builder_.add(name, sample_values(dtype, shape), cut(shape, 0, 1), std::move(path));
  }
  void add_object(const std::string& name, std::vector<PathElement> path) {
    builder_.add_object(name, object_item([](pickle::Writer& writer) { writer.integer(7); }), std::move(path));
  }
  const TorchFilePlan& plan(const SelectionRules& rules = {}, ObjectPolicy policy = ObjectPolicy::keep,
                            bool keep_device = false) {
    builder_.write(directory_);
    checkpoint_ = open_dcp(directory_.path());
    plan_ = plan_torch_file(checkpoint_.data(), select(checkpoint_.data(), rules), policy, keep_device);
    return plan_;
  }
  /// The nesting; a tensor is written as T and the key of its record.
  std::string nesting(const SelectionRules& rules = {}, ObjectPolicy policy = ObjectPolicy::keep) {
    std::string text = pickle::Tree(plan(rules, policy).records[0].text).text();
    for (std::size_t at = 0; (at = text.find("call(<torch._utils")) != std::string::npos;) {
      const std::size_t key = text.find("Storage>, '", at) + 11;
      const std::size_t end = text.find("<collections.OrderedDict>, ())))", at) + 32;
      text.replace(at, end - at, "T" + text.substr(key, text.find('\'', key) - key));
    }
    return text;
  }

  TempDir directory_;
  DcpBuilder builder_;
  Checkpoint checkpoint_;
  TorchFilePlan plan_;
};

TEST_F(Plan, NestsDictsAndListsInTheOrderOfThePaths) {
  add("b.w", {"b", "w"});
  add_object("list.2", {"list", Position{2}});
  add("list.0.x", {"list", Position{0}, "x"});
  add("a", {"a.dotted"});
  EXPECT_EQ(nesting(), "{'b': {'w': T0}, 'list': [{'x': T1}, None, 7], 'a.dotted': T2}");
}

TEST_F(Plan, LeavesOutWhatIsNotSelected) {
  add("model.w", {"model", "w"});
  add("model.v", {"model", "v"});
  add("optim.x", {"optim", "x"});
  EXPECT_EQ(nesting({.keep = {"model.v"}}), "{'model': {'v': T0}}");
}

TEST_F(Plan, KeepsThePositionsOfListsOfWhichAPartIsSelected) {
  add("l.0", {"l", Position{0}});
  add("l.1", {"l", Position{1}});
  EXPECT_EQ(nesting({.keep = {"l.1"}}), "{'l': [None, T0]}");
}

TEST_F(Plan, DropsContainersOfNothingButObjects) {
  add("model.w", {"model", "w"});
  add_object("optim.groups.0.lr", {"optim", "groups", Position{0}, "lr"});
  add_object("model.note", {"model", "note"});
  EXPECT_EQ(nesting({}, ObjectPolicy::drop), "{'model': {'w': T0}}");
}

TEST_F(Plan, CountsWhatItHolds) {
  add("w", {}, "float32", {5, 7});
  add_object("o", {});
  EXPECT_EQ(plan().tensors, 1U);
  EXPECT_EQ(plan_.objects, 1U);
  EXPECT_EQ(plan_.tensor_bytes, 140U);
}

TEST_F(Plan, NamesRecordsAsTorchDoes) {
  add("a", {});
  add("b", {});
  std::vector<std::string> names;
  for (const zip::PlannedRecord& record : plan().layout.records()) names.push_back(record.name);
  EXPECT_THAT(names, ElementsAre("archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/data/1",
                                 "archive/version"));
  EXPECT_EQ(plan_.records[1].text, "little");
  EXPECT_EQ(plan_.records[4].text, "3\n");
}

TEST_F(Plan, AlignsStorages) {
  for (int i = 0; i < 5; ++i) add("small." + std::to_string(i), {}, "uint8", {13 + i});
  for (int i = 0; i < 3; ++i) add("large." + std::to_string(i), {}, "uint8", {70'001 + i});
  for (const zip::PlannedRecord& record : plan().layout.records()) {
    if (!record.name.starts_with("archive/data/")) continue;
    EXPECT_EQ(record.data % (record.size >= 65'536 ? 4096 : 64), 0U) << record.name;
  }
}

TEST_F(Plan, GivesStoragesExactlyTheirTensorsBytes) {
  add("w", {}, "bfloat16", {3, 5});
  add("none", {}, "int64", {0, 3});
  EXPECT_EQ(plan().layout.records()[2].size, 30U);
  EXPECT_EQ(plan_.layout.records()[3].size, 0U);
}

TEST_F(Plan, WritesPickleProtocolTwoOnly) {
  add("w", {"model", "w"}, "float8_e5m2");
  add_object("o", {"deep", "o"});
  builder_.add_object("set", object_item([](pickle::Writer& writer) {
                        writer.global("__builtin__", "set");
                        writer.empty_list();
                        writer.tuple(1);
                        writer.reduce();
                      }));
  const std::string pickle = plan().records[0].text;
  EXPECT_TRUE(pickle.starts_with("\x80\x02"));
  for (const char later : {'\x8c', '\x93', '\x94', '\x95', '\x8f'})  // SHORT_BINUNICODE to EMPTY_SET, protocol 4
    EXPECT_EQ(pickle.find(later), std::string::npos) << static_cast<int>(later);
}

TEST_F(Plan, WritesTensorsAsCpuUnlessDevicesAreKept) {
  add("w", {});
  const TestTensor tensor{.dtype = "uint8", .shape = {2}, .storage = "ab", .location = "cuda:1"};
  builder_.file(0) = tensor_item(tensor);
  builder_.entries()[0].chunks[0].length = builder_.file(0).size();
  EXPECT_THAT(pickle::Tree(plan().records[0].text).text(), HasSubstr("'cpu'"));
  EXPECT_THAT(pickle::Tree(plan({}, ObjectPolicy::keep, true).records[0].text).text(), HasSubstr("'cuda:1'"));
}

TEST_F(Plan, WritesEveryDType) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const std::string dtype(name(static_cast<DType>(i)));
    add(dtype, {}, dtype);
  }
  EXPECT_EQ(plan().tensors, static_cast<std::uint64_t>(kDTypeCount));
}

}  // namespace
}  // namespace fsdpckpt
