#include "zip/layout.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/text.h"
#include "zip/extra.h"
#include "zip/format.h"

namespace fsdpckpt::zip {
namespace {

/// 1980-01-01, the first day of DOS dates (APPNOTE 4.4.6); torch writes 0, which unzip shows as day 0 of month 0.
constexpr std::uint16_t kDate = 0x0021;
constexpr std::uint16_t kVersionPlain = 20;
constexpr std::uint16_t kVersionZip64 = 45;
constexpr std::uint32_t kMaxAlignment = 32768;  // the padding's length is a 16-bit field
constexpr std::uint64_t kMaxFileSize = INT64_MAX;

bool is_wide(std::uint64_t value) { return value >= kSaturated32; }

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kSaturated32));
}

/// Length of the zip64 extra of a local header, which holds both sizes or is not there.
std::uint64_t local_zip64_size(std::uint64_t size) { return is_wide(size) ? kExtraHead + 2 * sizeof(size) : 0; }

/// Length of the zip64 extra of a directory entry, which holds just the saturated fields (APPNOTE 4.5.3).
std::uint64_t central_zip64_size(const PlannedRecord& record) {
  const std::uint64_t values = (is_wide(record.size) ? 2 : 0) + (is_wide(record.header) ? 1 : 0);
  return values == 0 ? 0 : kExtraHead + values * sizeof(std::uint64_t);
}

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_extra_head(std::string& to, std::uint16_t id, std::uint64_t length) {
  append(to, id);
  append(to, static_cast<std::uint16_t>(length));
}

void append_central_zip64(std::string& to, const PlannedRecord& record) {
  const std::uint64_t length = central_zip64_size(record);
  if (length == 0) return;
  append_extra_head(to, kZip64Extra, length - kExtraHead);
  if (is_wide(record.size)) {
    append(to, record.size);
    append(to, record.size);
  }
  if (is_wide(record.header)) append(to, record.header);
}

void append_central_entry(std::string& to, const PlannedRecord& record, std::uint32_t crc) {
  const std::uint64_t extra_length = central_zip64_size(record);
  CentralBytes entry{};
  entry.signature = kCentralSignature;
  entry.version_needed = entry.version_made_by = extra_length == 0 ? kVersionPlain : kVersionZip64;
  entry.date = kDate;
  entry.crc = crc;
  entry.size = entry.stored_size = narrow(record.size);
  entry.name_length = static_cast<std::uint16_t>(record.name.size());
  entry.extra_length = static_cast<std::uint16_t>(extra_length);
  entry.header_offset = narrow(record.header);
  append(to, entry);
  to += record.name;
  append_central_zip64(to, record);
}

bool needs_zip64_end(std::uint64_t count, std::uint64_t directory_offset, std::uint64_t directory_size) {
  return count >= kSaturated16 || is_wide(directory_offset) || is_wide(directory_size);
}

void append_zip64_end(std::string& to, std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  Zip64EndBytes end{};
  end.signature = kZip64EndSignature;
  end.record_size = sizeof end - sizeof end.signature - sizeof end.record_size;
  end.version_made_by = end.version_needed = kVersionZip64;
  end.count = end.count_on_disk = count;
  end.directory_offset = offset;
  end.directory_size = size;
  append(to, end);
  append(to, LocatorBytes{kLocatorSignature, 0, offset + size, 1});
}

void append_end(std::string& to, std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  EndBytes end{};
  end.signature = kEndSignature;
  end.count = end.count_on_disk = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, kSaturated16));
  end.directory_offset = narrow(offset);
  end.directory_size = narrow(size);
  append(to, end);
}

void require_usable(const std::string& name, std::uint32_t alignment) {
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return c > 0 && c < 0x7f; });
  if (name.empty() || name.size() > kSaturated16 || !ascii) {
    throw Error(ErrorKind::bug, cat("no name for a zip record: ", quote(name)));
  }
  if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
    throw Error(ErrorKind::bug, cat("no alignment for a zip record: ", alignment));
  }
}

}  // namespace

std::uint32_t Layout::add(std::string name, std::uint64_t size, std::uint32_t alignment) {
  require_usable(name, alignment);
  std::uint64_t data = end_ + sizeof(LocalBytes) + name.size() + local_zip64_size(size);
  if (alignment > 1) data = (data + kExtraHead + alignment - 1) & ~std::uint64_t{alignment - 1};
  if (data > kMaxFileSize || size > kMaxFileSize - data) {
    throw Error(ErrorKind::usage, cat("the archive is too large for a file at record ", quote(name)));
  }
  records_.push_back({std::move(name), size, end_, data});
  end_ = data + size;
  directory_size_ += sizeof(CentralBytes) + records_.back().name.size() + central_zip64_size(records_.back());
  return static_cast<std::uint32_t>(records_.size() - 1);
}

std::uint64_t Layout::file_size() const {
  const bool wide = needs_zip64_end(records_.size(), end_, directory_size_);
  return end_ + directory_size_ + (wide ? sizeof(Zip64EndBytes) + sizeof(LocatorBytes) : 0) + sizeof(EndBytes);
}

std::string Layout::local_header(std::uint32_t record, std::uint32_t crc) const {
  const PlannedRecord& planned = records_.at(record);
  const std::uint64_t length = planned.data - planned.header;
  const std::uint64_t zip64 = local_zip64_size(planned.size);
  LocalBytes fixed{};
  fixed.signature = kLocalSignature;
  fixed.version_needed = zip64 == 0 ? kVersionPlain : kVersionZip64;
  fixed.date = kDate;
  fixed.crc = crc;
  fixed.size = fixed.stored_size = narrow(planned.size);
  fixed.name_length = static_cast<std::uint16_t>(planned.name.size());
  fixed.extra_length = static_cast<std::uint16_t>(length - sizeof fixed - planned.name.size());
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(length));
  append(bytes, fixed);
  bytes += planned.name;
  if (zip64 != 0) {
    append_extra_head(bytes, kZip64Extra, zip64 - kExtraHead);
    append(bytes, planned.size);
    append(bytes, planned.size);
  }
  if (bytes.size() < length) append_extra_head(bytes, kPaddingExtra, length - bytes.size() - kExtraHead);
  bytes.resize(static_cast<std::size_t>(length), kPaddingFill);
  return bytes;
}

std::string Layout::directory(const std::vector<std::uint32_t>& crcs) const {
  if (crcs.size() != records_.size()) throw Error(ErrorKind::bug, "not one checksum for each zip record");
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(file_size() - end_));
  for (std::size_t i = 0; i < records_.size(); ++i) append_central_entry(bytes, records_[i], crcs[i]);
  if (needs_zip64_end(records_.size(), end_, directory_size_)) {
    append_zip64_end(bytes, records_.size(), end_, directory_size_);
  }
  append_end(bytes, records_.size(), end_, directory_size_);
  return bytes;
}

}  // namespace fsdpckpt::zip
