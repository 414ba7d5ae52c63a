#include "zip/archive_builder.h"

#include <fstream>
#include <iterator>

#include "io/crc32.h"
#include "zip/directory.h"

namespace fsdpckpt::zip {
namespace {

template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

bool starts_with_zip64(const std::string& extra) { return extra.starts_with(raw(kZip64Extra)); }

std::string descriptor(const Member& member, std::uint32_t crc) {
  const std::size_t size = member.payload.size();
  if (starts_with_zip64(member.local_extra)) return raw(Descriptor64Bytes{kDescriptorSignature, crc, size, size});
  const auto small = static_cast<std::uint32_t>(size);
  return raw(Descriptor32Bytes{kDescriptorSignature, crc, small, small});
}

void append_record(Archive& archive, const Member& member) {
  const bool described = (member.flags & kFlagDescriptor) != 0;
  const std::uint32_t crc = crc32(as_bytes(member.payload));
  LocalBytes local{};
  local.signature = kLocalSignature;
  local.flags = member.flags;
  if (!described) {
    local.crc = crc;
    local.size = local.stored_size = static_cast<std::uint32_t>(member.payload.size());
  }
  local.name_length = static_cast<std::uint16_t>(member.name.size());
  local.extra_length = static_cast<std::uint16_t>(member.local_extra.size());
  archive.local_at.push_back(archive.bytes.size());
  archive.bytes += raw(local) + member.name + member.local_extra + member.payload;
  if (described) archive.bytes += descriptor(member, crc);
}

void append_entry(Archive& archive, const Member& member, std::size_t header) {
  CentralBytes entry{};
  entry.signature = kCentralSignature;
  entry.flags = member.flags;
  entry.crc = crc32(as_bytes(member.payload));
  entry.size = entry.stored_size = static_cast<std::uint32_t>(member.payload.size());
  entry.name_length = static_cast<std::uint16_t>(member.name.size());
  entry.extra_length = static_cast<std::uint16_t>(member.central_extra.size());
  entry.header_offset = static_cast<std::uint32_t>(header);
  archive.central_at.push_back(archive.bytes.size());
  archive.bytes += raw(entry) + member.name + member.central_extra;
}

void append_zip64_end(Archive& archive, std::size_t directory, std::size_t directory_size) {
  Zip64EndBytes end{};
  end.signature = kZip64EndSignature;
  end.record_size = 44;
  end.count = end.count_on_disk = archive.central_at.size();
  end.directory_offset = directory;
  end.directory_size = directory_size;
  archive.zip64_end_at = archive.bytes.size();
  archive.bytes += raw(end) + raw(LocatorBytes{kLocatorSignature, 0, archive.zip64_end_at, 1});
}

Archive make(const std::vector<Member>& members, bool zip64) {
  Archive archive;
  for (const Member& member : members) append_record(archive, member);
  const std::size_t directory = archive.bytes.size();
  for (std::size_t i = 0; i < members.size(); ++i) append_entry(archive, members[i], archive.local_at[i]);
  const std::size_t directory_size = archive.bytes.size() - directory;
  if (zip64) append_zip64_end(archive, directory, directory_size);
  EndBytes end{};
  end.signature = kEndSignature;
  end.count = end.count_on_disk = static_cast<std::uint16_t>(members.size());
  end.directory_offset = static_cast<std::uint32_t>(directory);
  end.directory_size = static_cast<std::uint32_t>(directory_size);
  archive.end_at = archive.bytes.size();
  archive.bytes += raw(end);
  return archive;
}

}  // namespace

Archive make_archive(const std::vector<Member>& members) { return make(members, false); }
Archive make_zip64_archive(const std::vector<Member>& members) { return make(members, true); }

std::vector<Member> small_members() {
  return {{"archive/data.pkl", "a pickle"}, {"archive/data/0", std::string(40, 'x')}, {"archive/version", "3\n"}};
}

std::string extra_field(std::uint16_t id, const std::string& payload) {
  return raw(id) + raw(static_cast<std::uint16_t>(payload.size())) + payload;
}

std::string zip64_extra(const std::vector<std::uint64_t>& values) {
  std::string payload;
  for (const std::uint64_t value : values) payload += raw(value);
  return extra_field(kZip64Extra, payload);
}

std::string read_data(const std::string& name) {
  std::ifstream file(std::string(FSDPCKPT_ZIP_DATA) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_refused(const Archive& archive, const std::string& text) {
  const MemorySource source(as_bytes(archive.bytes), "model.pt");
  Directory directory;
  expect_error(ErrorKind::input, text, [&] {
    try {
      directory.read(source);
    } catch (const Error& error) {
      EXPECT_EQ(error.where().path, "model.pt");
      EXPECT_TRUE(error.where().offset.has_value()) << error.what();
      throw;
    }
  });
  EXPECT_TRUE(directory.records().empty());
}

void expect_read(const Archive& archive) {
  Directory directory;
  EXPECT_NO_THROW(directory.read(MemorySource(as_bytes(archive.bytes))));
  EXPECT_FALSE(directory.records().empty());
}

}  // namespace fsdpckpt::zip
