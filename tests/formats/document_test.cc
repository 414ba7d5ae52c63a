#include "formats/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"
#include "formats/dcp_builder.h"
#include "formats/dcp_reader.h"
#include "pickle/tree_text.h"

namespace fsdpckpt {
namespace {

using testing::HasSubstr;

/// A document of the file with this content.
class DocumentOf {
 public:
  explicit DocumentOf(const std::string& content, Encoding encoding = Encoding::torch_zip) {
    directory_.write("item", content);
    FileSet files(directory_.path());
    const FileId file = files.add("item");
    document = read_document(files, {.file = file, .encoding = encoding, .length = content.size()}, "item");
  }
  std::string text() const { return pickle::TreeText(document->values).of(document->root); }

  std::shared_ptr<const Document> document;

 private:
  TempDir directory_;
};

Error error_of_document(const std::string& content, Encoding encoding = Encoding::torch_zip) {
  const TempDir directory;
  directory.write("item", content);
  FileSet files(directory.path());
  const FileId file = files.add("item");
  Error error =
      error_of([&] { read_document(files, {.file = file, .encoding = encoding, .length = content.size()}, "item"); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.where().path, HasSubstr("/item"));
  return error;
}

std::string pair_item() {
  return object_item(
      [](pickle::Writer& writer) {
        writer.integer(5);
        writer.text("x");
        writer.tuple(2);
      },
      {"storage zero", "one"});
}

TEST(Document, HoldsTheValueAndWhereTheStoragesLie) {
  const std::string item = pair_item();
  const DocumentOf read(item);
  EXPECT_EQ(read.text(), "(5, 'x')");
  ASSERT_EQ(read.document->storages.size(), 2U);
  const StoredStorage& storage = read.document->storages.at("0");
  EXPECT_EQ(item.substr(storage.extent.offset, storage.extent.length), "storage zero");
  EXPECT_EQ(read.document->storages.at("1").size, 3U);
  EXPECT_EQ(read.document->size, item.size());
}

TEST(Document, IsReadFromACompressedItem) {
  const DocumentOf read(zstd_of(pair_item()), Encoding::torch_zip_zstd);
  EXPECT_EQ(read.text(), "(5, 'x')");
  const StoredStorage& storage = read.document->storages.at("0");
  EXPECT_EQ(storage.extent.encoding, Encoding::torch_zip_zstd);
  EXPECT_EQ(pair_item().substr(storage.skip, storage.size), "storage zero");
}

TEST(Document, ThatIsNoArchiveIsRefused) {
  error_of_document("no archive at all, but long enough to be looked at as one");
  error_of_document("");
  error_of_document("PK");
}

TEST(Document, WithoutAPickleIsRefused) {
  const std::string item = zip::make_archive({{"archive/version", "3\n"}}).bytes;
  EXPECT_THAT(error_of_document(item).what(), HasSubstr("no data.pkl"));
}

TEST(Document, OfABigEndianMachineIsRefused) {
  const std::string item =
      zip::make_archive({{"archive/data.pkl", std::string("\x80\x02N.")}, {"archive/byteorder", "big"}}).bytes;
  EXPECT_THAT(error_of_document(item).what(), HasSubstr("byte order"));
}

TEST(Document, WithoutAByteOrderIsLittleEndian) {
  EXPECT_EQ(DocumentOf(zip::make_archive({{"archive/data.pkl", std::string("\x80\x02N.")}}).bytes).text(), "None");
}

TEST(Document, WithABrokenPickleIsRefused) {
  error_of_document(zip::make_archive({{"archive/data.pkl", "\x80\x02("}}).bytes);
}

TEST(Document, ThatIsNoZstdStreamIsRefused) { error_of_document(pair_item(), Encoding::torch_zip_zstd); }

TEST(Document, ThatExpandsBeyondTheLimitIsRefused) {
  const std::string bomb = zstd_of(std::string(kMaxDecodedDocument + 1, '\0'));
  EXPECT_THAT(error_of_document(bomb, Encoding::torch_zip_zstd).what(), HasSubstr("larger than 64 MiB"));
}

TEST(Document, WhosePickleIsDamagedIsRefusedAlthoughItStillMakesSense) {
  std::string item = zip::make_archive({{"archive/data.pkl", std::string("\x80\x02K\x05.")}}).bytes;
  item[item.find("K\5.") + 1] = 4;
  EXPECT_THAT(error_of_document(item).what(), HasSubstr("'archive/data.pkl' is damaged"));
}

TEST(ReadObject, ReadsTheItemOfAnEntry) {
  const TempDir directory;
  DcpBuilder builder;
  builder.add_object("pair", pair_item());
  builder.write(directory);
  const Checkpoint checkpoint = open_dcp(directory.path());
  const DocumentPart part = read_object(checkpoint.data(), 0);
  EXPECT_EQ(pickle::TreeText(part.document->values).of(part.node), "(5, 'x')");
}

TEST(ReadObject, NamesTheEntryThatIsBroken) {
  const TempDir directory;
  DcpBuilder builder;
  builder.add_object("pair", "something else than an archive, of a certain length");
  builder.write(directory);
  const Checkpoint checkpoint = open_dcp(directory.path());
  const Error error = error_of([&] { read_object(checkpoint.data(), 0); });
  EXPECT_EQ(error.where().entry, "pair");
  EXPECT_THAT(error.where().path, HasSubstr("__0_0.distcp"));
}

}  // namespace
}  // namespace fsdpckpt
