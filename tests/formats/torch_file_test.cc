#include "formats/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"
#include "base/sha256.h"
#include "formats/item_builder.h"
#include "formats/manifest.h"
#include "formats/payload.h"
#include "io/temp_dir.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {
namespace {

using pickle::Writer;
using testing::ElementsAre;
using testing::HasSubstr;

/// Entries as "name kind" of a file with this value.
std::vector<std::string> entries_of(const std::string& content) {
  const TempDir directory;
  directory.write("model.pt", content);
  const Checkpoint checkpoint = open_torch_file(directory.path(), "model.pt");
  std::vector<std::string> names;
  for (EntryId id = 0; id < checkpoint.entry_count(); ++id) {
    const Entry entry = checkpoint.entry(id);
    names.push_back(std::string(entry.name) + (entry.kind == EntryKind::tensor ? " tensor" : " object"));
  }
  return names;
}

Error error_of_file(const std::string& content) {
  Error error = error_of([&] { entries_of(content); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.where().path, HasSubstr("/model.pt"));
  return error;
}

void write_small_tensor(Writer& writer) { write_test_tensor(writer, {.shape = {2}, .storage = std::string(8, 't')}); }

std::string file_of(const std::function<void(Writer&)>& write) { return object_item(write, {std::string(8, 't')}); }

TEST(TorchFile, IsReadFromMemoryToo) {
  const std::string content = file_of(write_small_tensor);
  const Checkpoint checkpoint = open_torch_file(MemorySource(as_bytes(content), "there"));
  ASSERT_EQ(checkpoint.entry_count(), 1U);
  const Extent extent = checkpoint.chunk(0, 0).extent;
  EXPECT_EQ(content.substr(extent.offset, extent.length), std::string(8, 't'));
  const Error error = error_of([&] { open_torch_file(MemorySource(as_bytes(content).first(50), "there")); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().path, "there");
}

TEST(TorchFile, NamesEntriesByTheirPaths) {
  EXPECT_THAT(entries_of(file_of([](Writer& writer) {
                writer.empty_dict();
                writer.mark();
                writer.text("model");
                writer.empty_dict();
                writer.text("w");
                write_small_tensor(writer);
                writer.set_item();
                writer.text("epoch");
                writer.integer(3);
                writer.integer(5);
                writer.none();
                writer.set_items();
              })),
              ElementsAre("model.w tensor", "epoch object", "5 object"));
}

TEST(TorchFile, DescendsListsThatHoldATensorOrADict) {
  EXPECT_THAT(entries_of(file_of([](Writer& writer) {
                writer.empty_dict();
                writer.mark();
                writer.text("with");
                writer.empty_list();
                writer.integer(1);
                writer.append();
                write_small_tensor(writer);
                writer.append();
                writer.text("without");
                writer.empty_list();
                writer.integer(1);
                writer.append();
                writer.set_items();
              })),
              ElementsAre("with.0 object", "with.1 tensor", "without object"));
}

TEST(TorchFile, ABareTensorIsAnEntryWithoutAName) {
  EXPECT_THAT(entries_of(file_of(write_small_tensor)), ElementsAre(" tensor"));
}

TEST(TorchFile, AnOrderedDictIsADict) {
  EXPECT_THAT(entries_of(file_of([](Writer& writer) {
                writer.global("collections", "OrderedDict");
                writer.empty_tuple();
                writer.reduce();
                writer.text("w");
                write_small_tensor(writer);
                writer.set_item();
              })),
              ElementsAre("w tensor"));
}

TEST(TorchFile, TwoKeysOfOneSpellingAreToldApart) {
  const std::vector<std::string> names = entries_of(file_of([](Writer& writer) {
    writer.empty_dict();
    writer.mark();
    writer.integer(1);
    writer.none();
    writer.text("1");
    writer.none();
    writer.set_items();
  }));
  ASSERT_EQ(names.size(), 2U);
  EXPECT_NE(names[0], names[1]);
}

TEST(TorchFile, ManyKeysWithoutASpellingAreNoDanger) {
  const std::vector<std::string> names = entries_of(file_of([](Writer& writer) {
    writer.empty_dict();
    writer.mark();
    for (int i = 0; i < 20'000; ++i) {
      writer.real(i);
      writer.none();
    }
    writer.set_items();
  }));
  EXPECT_EQ(names.size(), 20'000U);
  EXPECT_LT(names.back().size(), 100U);
}

TEST(TorchFile, ATensorWithoutItsRecordIsNamedAndTheOthersAreShown) {
  const TempDir directory;
  directory.write("model.pt", object_item([](Writer& writer) {
                    writer.empty_dict();
                    writer.mark();
                    writer.text("w");
                    write_small_tensor(writer);
                    writer.text("epoch");
                    writer.integer(3);
                    writer.set_items();
                  }));
  const Checkpoint checkpoint = open_torch_file(directory.path(), "model.pt");
  ASSERT_EQ(checkpoint.damages().size(), 1U);
  const Error& error = checkpoint.damages().front();
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.where().entry, "w");
  EXPECT_THAT(error.where().path, HasSubstr("/model.pt"));
  EXPECT_THAT(error.what(), HasSubstr("'data/0' of 8 bytes"));
  EXPECT_EQ(checkpoint.entry_count(), 2U);
}

TEST(TorchFile, KeepsTheNesting) {
  const TempDir directory;
  directory.write("model.pt", file_of([](Writer& writer) {
                    writer.empty_dict();
                    writer.text("state");
                    writer.empty_list();
                    writer.empty_dict();
                    writer.integer(0);
                    write_small_tensor(writer);
                    writer.set_item();
                    writer.append();
                    writer.set_item();
                  }));
  const Checkpoint checkpoint = open_torch_file(directory.path(), "model.pt");
  const StateTree& tree = checkpoint.data().tree;
  const StateTree::Node list = tree.child(StateTree::kRoot, "state");
  ASSERT_NE(list, StateTree::kNowhere);
  EXPECT_EQ(tree.kind(list), StateTree::Kind::list);
  const StateTree::Node dict = tree.children(list).at(0).node;
  EXPECT_EQ(tree.kind(dict), StateTree::Kind::dict);
  EXPECT_NE(tree.child(dict, "0"), StateTree::kNowhere);
}

std::string writer_of(const std::string& name) {
  return open_torch_file(test_data(name + "/full"), "layouts.pt").data().writer;
}

TEST(TorchFile, TellsWhichTorchWroteIt) {
  EXPECT_EQ(writer_of("torch-2.0.1"), "torch.save of torch 2.0 or earlier");
  EXPECT_EQ(writer_of("torch-2.13.0"), "torch.save of torch 2.7 or later");
}

TEST(TorchFile, ADictInsideItselfIsRefused) {
  error_of_file(object_item([](Writer& writer) {
    writer.empty_dict();
    const std::uint32_t slot = writer.put();
    writer.text("again");
    writer.get(slot);
    writer.set_item();
  }));
}

/// A file of this pickle: `level` writes a value that holds memo slot i twice, on top of `bottom`.
std::string doubled(const std::string& bottom, int levels,
                    const std::function<std::string(const std::string&)>& level) {
  std::string pickle = "\x80\x02" + bottom + std::string("q\0", 2);
  for (char slot = 0; slot < levels; ++slot)
    pickle += "0" + level(std::string("h") + slot) + "q" + std::string(1, static_cast<char>(slot + 1));
  return make_torch_archive({.pickle = pickle + "."}).bytes;
}

/// [[x, x], [x, x]] forty levels deep, and the same of dicts: a few hundred bytes, 2^40 leaves.
TEST(TorchFile, ATreeThatIsEndlessWhenExpandedIsRefused) {
  const auto list = [](const std::string& get) { return "](" + get + get + "e"; };
  const auto dict = [](const std::string& get) { return "}(K\1" + get + "K\2" + get + "u"; };
  for (const std::string& file : {doubled("}", 40, list), doubled("}", 40, dict)})
    EXPECT_THAT(error_of_file(file).what(), HasSubstr("refers to itself"));
}

/// 2^16 names, each of sixteen long keys.
TEST(TorchFile, AFewBytesThatBecomeGigabytesOfNamesAreRefused) {
  const std::string key = std::string("X\x10\x27\0\0", 5) + std::string(10000, 'k') + "q\xff" + "0";
  const auto dict = [](const std::string& get) { return "}(h\xff" + get + "K\2" + get + "u"; };
  EXPECT_THAT(error_of_file(doubled(key + "}", 16, dict)).what(), HasSubstr("refers to itself"));
}

TEST(TorchFile, AListOfDictsAtTheTopIsRead) {
  EXPECT_THAT(
      entries_of(make_torch_archive({.pickle = std::string("\x80\x02](}X\1\0\0\0aK\1s}X\1\0\0\0aK\2se.", 26)}).bytes),
      ElementsAre("0.a object", "1.a object"));
}

TEST(TorchFile, ATreeThatSharesItsPartsAFewTimesIsRead) {
  const auto dict = [](const std::string& get) { return "}(K\1" + get + "K\2" + get + "u"; };
  EXPECT_EQ(entries_of(doubled("N", 10, dict)).size(), 1024U);
}

TEST(TorchFile, RealFilesHoldTheManifestsDTypesAndShapes) {
  for (const char* version : {"torch-2.0.1", "torch-2.13.0"}) {
    const std::string folder = test_data(std::string(version) + "/full");
    const Manifest manifest = read_manifest(folder + "/manifest.json");
    for (const ExpectedTensor& expected : manifest.tensors) {
      const std::string file = expected.name.substr(0, expected.name.find('.'));
      const std::string key = file == expected.name ? "" : expected.name.substr(file.size() + 1);
      const Checkpoint checkpoint = open_torch_file(folder, file + ".pt");
      const EntryId id = key.empty() ? 0 : checkpoint.find(key);
      ASSERT_LT(id, checkpoint.entry_count()) << expected.name;
      EXPECT_EQ(name(checkpoint.entry(id).dtype), expected.dtype) << expected.name;
      EXPECT_THAT(checkpoint.entry(id).shape, testing::ElementsAreArray(expected.shape)) << expected.name;
    }
  }
}

TEST(TorchFile, RealFilesWithTensorsWithoutPlainBytesAreRefusedByName) {
  const std::string folder = test_data("torch-2.13.0/full");
  const Checkpoint checkpoint = open_torch_file(folder, "special_coo.pt");
  ASSERT_EQ(checkpoint.damages().size(), 1U);
  EXPECT_EQ(checkpoint.damages().front().kind(), ErrorKind::input);
  EXPECT_THAT(checkpoint.damages().front().what(), HasSubstr("sparse"));
}

TEST(TorchFile, RealFilesOfContainersAndOfProtocolFourAreRead) {
  const std::string folder = test_data("torch-2.13.0/full");
  for (const char* file : {"containers.pt", "numpy.pt", "proto4.pt", "module_state_dict.pt"})
    EXPECT_GT(open_torch_file(folder, file).entry_count(), 0U) << file;
}

}  // namespace
}  // namespace fsdpckpt
