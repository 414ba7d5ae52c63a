// The stored-zip container of torch.save, read: end records, central directory, local headers, checked
// against each other. Knows records and bytes, nothing of tensors. Rules Z1 to Z6 of the threat list in SECURITY.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.h"

namespace fsdpckpt::zip {

/// One stored member. Offsets are relative to the source's first byte.
struct Record {
  std::string_view name;     ///< full name, e.g. "archive/data/0"; points into the Directory
  std::uint64_t header = 0;  ///< of the local header
  std::uint64_t data = 0;    ///< of the payload
  std::uint64_t size = 0;    ///< of the payload, bytes
  std::uint32_t crc = 0;     ///< from the central directory; 0 means "no checksum" (torch 2.6+ option)
};

class Directory {
 public:
  Directory() = default;
  Directory(const Directory&) = delete;  // records point into names_
  Directory& operator=(const Directory&) = delete;
  Directory(Directory&&) = default;
  Directory& operator=(Directory&&) = default;

  /// Reads and validates the directory of the archive that fills `source` exactly. Reuses this object's memory.
  /// Requires exactly one end record at the very end (no comment), no bytes before the first local header but
  /// zeros (at most 64 KiB), at least one record, a directory of at most 1 GiB, unique names, one-component common
  /// prefix, method stored, no encryption, no unknown flag bits, names and flags equal in local and central headers,
  /// disjoint records before the directory, data descriptors that say what the directory says. Payloads are not read.
  /// Throws Error(input) naming the source and the byte offset; then there are no records.
  void read(const Source& source);

  /// In the order of the central directory.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  /// "archive": the first component of the first name.
  [[nodiscard]] std::string_view prefix() const { return prefix_; }
  /// The record prefix + "/" + `name`, or null.
  [[nodiscard]] const Record* find(std::string_view name) const;

 private:
  void clear();
  void read_records(const Source& source);
  std::size_t add_record(const Source& source, Bytes directory, std::size_t at, std::uint64_t offset);
  void check_places(const Source& source) const;
  void index_names();

  std::vector<char> names_;  ///< the central directory's bytes; record names point here
  std::vector<Record> records_;
  std::vector<std::uint64_t> ends_;     ///< of records_, behind payload and descriptor
  std::vector<std::uint32_t> by_name_;  ///< indices of records_ sorted by name, built when there are many
  std::string_view prefix_;
};

/// Compares the CRC-32 of a record's payload with the directory's, which may be 0 for none. Throws Error(input) naming
/// the record.
void require_checksum(const Record& record, std::uint32_t seen);

/// True when the bytes start like a zip archive's first local header (PK\3\4), which is how torch decides.
bool starts_like_zip(Bytes first_bytes);
/// The same of the bytes at `offset`; false also when fewer than four are left. Throws what reading throws.
bool starts_like_zip(const Source& source, std::uint64_t offset = 0);

}  // namespace fsdpckpt::zip
