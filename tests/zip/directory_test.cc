#include "zip/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "io/crc32.h"
#include "zip/archive_builder.h"

namespace fsdpckpt::zip {
namespace {

using testing::ElementsAre;

Directory read(const std::string& bytes) {
  Directory directory;
  directory.read(MemorySource(as_bytes(bytes)));
  return directory;
}

std::vector<std::string> names(const Directory& directory) {
  std::vector<std::string> result;
  for (const Record& record : directory.records()) result.emplace_back(record.name);
  return result;
}

std::string payload(const std::string& bytes, const Record& record) { return bytes.substr(record.data, record.size); }

class TorchArchive : public testing::TestWithParam<const char*> {};

TEST_P(TorchArchive, HasPayloadsThatMatchTheirChecksumsOn64ByteBoundaries) {
  const std::string bytes = read_data(GetParam());
  const Directory directory = read(bytes);
  ASSERT_FALSE(directory.records().empty());
  for (const Record& record : directory.records()) {
    EXPECT_EQ(crc32(as_bytes(payload(bytes, record))), record.crc) << record.name;
    EXPECT_EQ(record.data % 64, 0U) << record.name;
  }
}

TEST_P(TorchArchive, HasPickleAndVersion) {
  const std::string bytes = read_data(GetParam());
  const Directory directory = read(bytes);
  ASSERT_NE(directory.find("data.pkl"), nullptr);
  ASSERT_NE(directory.find("version"), nullptr);
  EXPECT_EQ(payload(bytes, *directory.find("version")), "3\n");
}

INSTANTIATE_TEST_SUITE_P(Data, TorchArchive,
                         testing::Values("torch-2.0.1-bytes-item.pt", "torch-2.0.1-module.pt",
                                         "torch-2.4.1-containers.pt", "torch-2.13.0-layouts.pt", "torch-2.13.0-many.pt",
                                         "torch-2.13.0-tensor-item.pt"));

TEST(Directory, GivesTheRecordsInTheOrderOfTheDirectory) {
  const Directory directory = read(read_data("torch-2.13.0-tensor-item.pt"));
  EXPECT_THAT(names(directory),
              ElementsAre("archive/data.pkl", "archive/.format_version", "archive/.storage_alignment",
                          "archive/byteorder", "archive/data/0", "archive/version", "archive/.data/serialization_id"));
  EXPECT_EQ(directory.prefix(), "archive");
}

TEST(Directory, ReadsRecordsWithoutBytes) {
  const Directory directory = read(read_data("torch-2.13.0-layouts.pt"));
  ASSERT_NE(directory.find("data/3"), nullptr);
  EXPECT_EQ(directory.find("data/3")->size, 0U);
}

TEST(Directory, FindsEachOfManyRecordsByItsName) {
  const std::string bytes = read_data("torch-2.13.0-many.pt");
  const Directory directory = read(bytes);
  ASSERT_GT(directory.records().size(), 70U);
  for (const Record& record : directory.records()) {
    EXPECT_EQ(directory.find(record.name.substr(sizeof "many/" - 1)), &record);
  }
  EXPECT_EQ(directory.find("data/70000"), nullptr);
  EXPECT_EQ(directory.find(""), nullptr);
}

TEST(Directory, FindsNothingUnderAnotherName) {
  const Directory directory = read(make_archive(small_members()).bytes);
  EXPECT_EQ(directory.find("archive/version"), nullptr);
  EXPECT_EQ(directory.find("data"), nullptr);
  EXPECT_EQ(directory.find(""), nullptr);
}

TEST(Directory, FindsNothingBeforeItHasRead) { EXPECT_EQ(Directory().find("data.pkl"), nullptr); }

TEST(Directory, TellsWherePayloadsLie) {
  Archive archive = make_archive(small_members());
  const Directory directory = read(archive.bytes);
  EXPECT_EQ(directory.records()[1].header, archive.local_at[1]);
  EXPECT_EQ(payload(archive.bytes, directory.records()[1]), std::string(40, 'x'));
}

TEST(Directory, CanBeReusedForAnotherArchive) {
  const std::string many = read_data("torch-2.13.0-many.pt");
  const std::string few = make_archive(small_members()).bytes;
  Directory directory;
  directory.read(MemorySource(as_bytes(many)));
  directory.read(MemorySource(as_bytes(few)));
  EXPECT_THAT(names(directory), ElementsAre("archive/data.pkl", "archive/data/0", "archive/version"));
  EXPECT_NE(directory.find("version"), nullptr);
}

TEST(Directory, IsEmptyAfterAnError) {
  const std::string good = make_archive(small_members()).bytes;
  const std::string bad = good.substr(1);
  Directory directory;
  directory.read(MemorySource(as_bytes(good)));
  EXPECT_THROW(directory.read(MemorySource(as_bytes(bad))), Error);
  EXPECT_TRUE(directory.records().empty());
  EXPECT_EQ(directory.find("version"), nullptr);
}

TEST(Directory, IsEmptyAfterAnErrorAmongManyNames) {
  std::vector<Member> members;
  for (int i = 0; i < 100; ++i) members.push_back({"archive/data/" + std::to_string(i % 99), "1"});
  const std::string bytes = make_archive(members).bytes;
  Directory directory;
  EXPECT_THROW(directory.read(MemorySource(as_bytes(bytes))), Error);
  EXPECT_EQ(directory.find("data/1"), nullptr);
}

TEST(Directory, KeepsItsNamesWhenMoved) {
  Directory first = read(make_archive(small_members()).bytes);
  const Directory second = std::move(first);
  EXPECT_EQ(second.records()[2].name, "archive/version");
  EXPECT_EQ(second.prefix(), "archive");
}

TEST(Directory, ReadsAnArchiveWhoseChecksumsWereLeftOut) {
  Archive archive = make_archive(small_members());
  for (std::size_t i = 0; i < 3; ++i) archive.local(i).crc = archive.central(i).crc = 0;
  EXPECT_EQ(read(archive.bytes).records()[0].crc, 0U);
}

TEST(Directory, AllowsAnotherOrderThanThatOfTheFile) {
  Archive archive = make_archive({{"archive/a", "1234"}, {"archive/b", "5678"}});
  for (std::size_t i = 0; i < 2; ++i) {
    archive.central(i).header_offset = static_cast<std::uint32_t>(archive.local_at[1 - i]);
    archive.bytes[archive.central_at[i] + sizeof(CentralBytes) + 8] = i == 0 ? 'b' : 'a';
    archive.central(i).crc = crc32(as_bytes(std::string_view(i == 0 ? "5678" : "1234")));
  }
  EXPECT_THAT(names(read(archive.bytes)), ElementsAre("archive/b", "archive/a"));
}

/// `front` before the first record, with all offsets moved.
Archive behind(const std::string& front) {
  Archive archive = make_archive(small_members());
  const auto shift = static_cast<std::uint32_t>(front.size());
  for (std::size_t i = 0; i < 3; ++i) archive.central(i).header_offset += shift;
  archive.end().directory_offset += shift;
  archive.bytes.insert(0, front);
  return archive;
}

TEST(Directory, AllowsZerosInFrontOfTheFirstRecord) { expect_read(behind(std::string(4096, '\0'))); }

TEST(Directory, RefusesOtherBytesInFrontOfTheFirstRecord) {
  expect_refused(behind(std::string(64, '\0') + "#!/bin/sh"),
                 "bytes other than zeros in front of the first zip record");
}

TEST(Directory, RefusesMoreZerosInFrontThanAnAlignmentNeeds) {
  expect_refused(behind(std::string(65537, '\0')), "65537 bytes in front of the first zip record");
}

TEST(Directory, RefusesBytesInFrontWithoutMovedOffsets) {
  Archive archive = make_archive(small_members());
  archive.bytes.insert(0, "#!/bin/sh");
  expect_refused(archive, "does not end where the end records start");
}

TEST(Directory, RefusesTwoRecordsOfOneName) {
  expect_refused(make_archive({{"archive/a", "1"}, {"archive/b", "2"}, {"archive/a", "3"}}),
                 "two zip records are named 'archive/a'");
}

TEST(Directory, RefusesTwoRecordsOfOneNameAmongMany) {
  std::vector<Member> members;
  for (int i = 0; i < 100; ++i) members.push_back({"archive/data/" + std::to_string(i % 99), "1"});
  expect_refused(make_archive(members), "two zip records are named 'archive/data/0'");
}

TEST(Directory, RefusesARecordOutsideTheTopFolderOfTheOthers) {
  expect_refused(make_archive({{"archive/a", "1"}, {"other/b", "2"}}),
                 "'other/b' does not lie in the top folder 'archive'");
  expect_refused(make_archive({{"archive/a", "1"}, {"archive2/b", "2"}}),
                 "'archive2/b' does not lie in the top folder");
  expect_refused(make_archive({{"archive/a", "1"}, {"archive", "2"}}), "'archive' does not lie in the top folder");
}

TEST(Directory, RefusesRecordsWithoutATopFolder) {
  expect_refused(make_archive({{"data.pkl", "1"}}), "'data.pkl' does not lie in a top folder");
  expect_refused(make_archive({{"/data.pkl", "1"}}), "'/data.pkl' does not lie in a top folder");
  expect_refused(make_archive({{"", "1"}}), "'' does not lie in a top folder");
}

TEST(Directory, TakesOddNamesAsMereKeys) {
  const std::string with_nul("archive/a\0b", 11);
  const std::string bytes = make_archive({{"archive/../etc", "1"},
                                          {"archive/a\\b", "2"},
                                          {with_nul, "3"},
                                          {"archive/\xff", "4"},
                                          {"archive//x", "5"},
                                          {"archive/A", "6"},
                                          {"archive/a", "7"},
                                          {"archive/", ""}})
                                .bytes;
  const Directory directory = read(bytes);
  EXPECT_EQ(payload(bytes, *directory.find("../etc")), "1");
  EXPECT_EQ(payload(bytes, *directory.find(with_nul.substr(8))), "3");
  EXPECT_EQ(payload(bytes, *directory.find("a")), "7");
  EXPECT_NE(directory.find(""), nullptr);
}

TEST(Directory, RefusesARecordInsideThePayloadOfAnother) {
  const Archive inner = make_archive({{"archive/b", "1"}});
  Archive archive = make_archive({{"archive/a", inner.bytes}, {"archive/b", "1"}});
  archive.central(1).header_offset = static_cast<std::uint32_t>(archive.bytes.find(inner.bytes));
  expect_refused(archive, "zip records 'archive/a' and 'archive/b' overlap");
}

TEST(Directory, RefusesARecordInFrontThatReachesIntoAnother) {
  Archive archive = make_archive({{"archive/a", "1"}, {"archive/b", "2"}});
  for (auto* size : {&archive.bytes[archive.local_at[0] + 18], &archive.bytes[archive.local_at[0] + 22],
                     &archive.bytes[archive.central_at[0] + 20], &archive.bytes[archive.central_at[0] + 24]}) {
    *size = 2;
  }
  expect_refused(archive, "overlap");
}

TEST(Directory, RefusesARecordWhereTheDescriptorOfAnotherBelongs) {
  Archive archive = make_archive({{"archive/a", "1"}, {"archive/b", "2"}});
  archive.local(0).flags = archive.central(0).flags = kFlagDescriptor;
  expect_refused(archive, "the descriptor behind zip record 'archive/a' disagrees with the directory");
}

TEST(Directory, AllowsHolesBetweenRecords) {
  Archive archive = make_archive({{"archive/a", "12345678"}, {"archive/b", "2"}});
  archive.local(0).size = archive.local(0).stored_size = archive.central(0).size = archive.central(0).stored_size = 3;
  expect_read(archive);
}

TEST(StartsLikeZip, LooksAtAnyPlaceOfASource) {
  const MemorySource source(as_bytes("xPK\3\4"));
  EXPECT_TRUE(starts_like_zip(source, 1));
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{5}, UINT64_MAX})
    EXPECT_FALSE(starts_like_zip(source, offset)) << offset;
}

TEST(StartsLikeZip, LooksAtTheFirstFourBytes) {
  EXPECT_TRUE(starts_like_zip(as_bytes("PK\3\4")));
  EXPECT_FALSE(starts_like_zip(as_bytes("PK\5\6")));
  EXPECT_FALSE(starts_like_zip(as_bytes("PK\3")));
  EXPECT_FALSE(starts_like_zip(Bytes()));
}

}  // namespace
}  // namespace fsdpckpt::zip
