// The layout of a stored-zip archive to be written, fixed before a byte is written, so that payloads can be
// written at their places in any order by several threads: records in the order added, real sizes and CRCs in the
// local headers, no data descriptors, zip64 where needed. Rules: SECURITY.md and docs of torch.save's container
// (caffe2/serialize/inline_container.cc); `.format_version` is never written (offset prediction).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fsdpckpt::zip {

struct PlannedRecord {
  std::string name;          ///< full name, ASCII
  std::uint64_t size = 0;    ///< of the payload, bytes
  std::uint64_t header = 0;  ///< offset of the local header
  std::uint64_t data = 0;    ///< offset of the payload
};

class Layout {
 public:
  /// Adds a record behind the others; its payload starts at a multiple of `alignment` (a power of two, at most 32768;
  /// padded by one local extra field). Returns its index. Throws Error(usage) on size overflow.
  std::uint32_t add(std::string name, std::uint64_t size, std::uint32_t alignment);

  [[nodiscard]] const std::vector<PlannedRecord>& records() const { return records_; }
  /// Offset behind the last payload, where the central directory starts.
  [[nodiscard]] std::uint64_t directory_offset() const { return end_; }
  /// Size of the whole file.
  [[nodiscard]] std::uint64_t file_size() const;
  /// The bytes [header, data) of a record: local header, zip64 extra if needed, padding extra.
  [[nodiscard]] std::string local_header(std::uint32_t record, std::uint32_t crc) const;
  /// Central directory and end records; `crcs[i]` belongs to record i.
  [[nodiscard]] std::string directory(const std::vector<std::uint32_t>& crcs) const;

 private:
  std::vector<PlannedRecord> records_;
  std::uint64_t end_ = 0;             ///< behind the last payload
  std::uint64_t directory_size_ = 0;  ///< of the entries alone
};

}  // namespace fsdpckpt::zip
