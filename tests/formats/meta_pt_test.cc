#include "formats/meta_pt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"
#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "formats/document.h"
#include "formats/manifest.h"
#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using testing::HasSubstr;

/// A sharded checkpoint of one tensor model.w with this meta.pt.
class WithMeta {
 public:
  explicit WithMeta(const std::string& meta) {
    const TensorValues values = sample_values("float32", {2});
    DcpBuilder builder;
    builder.add("model.w", values, {{.offsets = {0}, .sizes = {2}}}, {"model", "w"});
    builder.write(directory_);
    directory_.write("meta.pt", meta);
  }
  Checkpoint open() const { return open_dcp(directory_.path()); }

 private:
  TempDir directory_;
};

std::string dict_of(std::initializer_list<const char*> keys) {
  return object_item([&](pickle::Writer& writer) {
    writer.empty_dict();
    writer.mark();
    for (const char* key : keys) {
      writer.text(key);
      writer.text(std::string("value of ") + key);
    }
    writer.set_items();
  });
}

std::string value_text(const Checkpoint& checkpoint, std::string_view name) {
  const DocumentPart part = read_object(checkpoint.data(), checkpoint.find(name));
  return pickle::TreeText(part.document->values).of(part.node);
}

TEST(MetaPt, ItsEntriesStandAtTheTop) {
  const WithMeta with(dict_of({"epoch", "callbacks"}));
  const Checkpoint checkpoint = with.open();
  ASSERT_EQ(checkpoint.entry_count(), 3U);
  EXPECT_EQ(checkpoint.entry(1).name, "epoch");
  EXPECT_EQ(checkpoint.entry(1).kind, EntryKind::object);
  EXPECT_EQ(value_text(checkpoint, "callbacks"), "'value of callbacks'");
  const StateTree& tree = checkpoint.data().tree;
  EXPECT_EQ(tree.children(StateTree::kRoot).size(), 3U);
  EXPECT_EQ(checkpoint.files().back().path, "meta.pt");
}

TEST(MetaPt, AnEmptyOneAddsNothing) { EXPECT_EQ(WithMeta(dict_of({})).open().entry_count(), 1U); }

void expect_refused(const std::string& meta, const std::string& text) {
  const WithMeta with(meta);
  const Checkpoint checkpoint = with.open();
  ASSERT_EQ(checkpoint.damages().size(), 1U);
  EXPECT_LT(checkpoint.data().index.find("model.w"), checkpoint.entry_count()) << "the sharded part is there";
  const Error& error = checkpoint.damages().front();
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr(text));
  EXPECT_THAT(error.where().path, HasSubstr("/meta.pt"));
}

TEST(MetaPt, AKeyOfTheShardedPartIsRefusedByName) {
  expect_refused(dict_of({"epoch", "model"}), "key 'model' is in meta.pt and in the sharded part");
}

TEST(MetaPt, ANameOfTheShardedPartIsRefused) { expect_refused(dict_of({"model.w"}), "'model.w'"); }

TEST(MetaPt, SomethingElseThanADictIsRefused) {
  expect_refused(object_item([](pickle::Writer& writer) { writer.integer(1); }), "something else than a dict");
}

TEST(MetaPt, AKeyThatIsNoTextIsRefused) {
  expect_refused(object_item([](pickle::Writer& writer) {
                   writer.empty_dict();
                   writer.integer(1);
                   writer.none();
                   writer.set_item();
                 }),
                 "no text");
}

TEST(MetaPt, AFileThatIsNoArchiveIsRefused) { expect_refused("not an archive, whatever its name may say", ""); }

TEST(MetaPt, OfLightningIsRead) {
  const Checkpoint checkpoint = open_dcp(test_data("lightning-2.6.6/fabric_fsdp"));
  EXPECT_EQ(checkpoint.files().back().path, "meta.pt");
  EXPECT_FALSE(checkpoint.data().parts.empty());
}

}  // namespace
}  // namespace fsdpckpt
