// Zip archives made by hand, one structure after the other, so that a test can break any field of them.
#pragma once

#include <fsdpckpt/error.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "zip/format.h"

namespace fsdpckpt::zip {

/// One record to be written. With kFlagDescriptor, sizes and CRC in the local header are 0 and a descriptor follows.
struct Member {
  std::string name;
  std::string payload;
  std::uint16_t flags = 0;
  std::string local_extra = {};
  std::string central_extra = {};
};

/// The bytes of an archive and where its structures lie; the references are into `bytes`.
struct Archive {
  std::string bytes;
  std::vector<std::size_t> local_at = {};
  std::vector<std::size_t> central_at = {};
  std::size_t zip64_end_at = 0;
  std::size_t end_at = 0;

  LocalBytes& local(std::size_t i) { return at<LocalBytes>(local_at.at(i)); }
  CentralBytes& central(std::size_t i) { return at<CentralBytes>(central_at.at(i)); }
  Zip64EndBytes& zip64_end() { return at<Zip64EndBytes>(zip64_end_at); }
  LocatorBytes& locator() { return at<LocatorBytes>(zip64_end_at + sizeof(Zip64EndBytes)); }
  EndBytes& end() { return at<EndBytes>(end_at); }

 private:
  // The structures are packed, so that any address is aligned for them.
  template <class T>
  T& at(std::size_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }
};

/// Records one after the other, then the directory, then the end record.
Archive make_archive(const std::vector<Member>& members);
/// The same with a zip64 end record and its locator, as torch always writes them.
Archive make_zip64_archive(const std::vector<Member>& members);
/// "archive/data.pkl", "archive/data/0" and "archive/version".
std::vector<Member> small_members();

std::string extra_field(std::uint16_t id, const std::string& payload);
std::string zip64_extra(const std::vector<std::uint64_t>& values);

/// Reads a file of tests/zip/data.
std::string read_data(const std::string& name);

/// Expects that Directory::read refuses the archive as Error(input) with `text` in the message, and names the source.
void expect_refused(const Archive& archive, const std::string& text);
void expect_read(const Archive& archive);

template <class Action>
void expect_error(ErrorKind kind, const std::string& text, Action action) {
  try {
    action();
    ADD_FAILURE() << "no error, expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace fsdpckpt::zip
