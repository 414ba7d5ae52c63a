#include "zip/directory.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"
#include "zip/central_entry.h"
#include "zip/end_record.h"
#include "zip/extra.h"
#include "zip/format.h"
#include "zip/local_header.h"

namespace fsdpckpt::zip {
namespace {

/// Millions of records; what a lying end record can make us allocate.
constexpr std::uint64_t kMaxDirectorySize = std::uint64_t{1} << 30;
/// Zeros allowed in front of the first record.
constexpr std::uint64_t kMaxLeadingZeros = 65536;
/// Up to here comparing all pairs of names is cheaper than an index; an item of a .distcp file has 3 to 7.
constexpr std::size_t kFewRecords = 16;

/// Shorter names first: torch numbers its storages, so that most of its order is already this one.
bool name_less(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

std::string_view first_component(std::string_view name, std::uint64_t at) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0) {
    fail(at, cat("zip record ", quote(name), " does not lie in a top folder, as torch.save's records do"));
  }
  return name.substr(0, slash);
}

void require_prefix(std::string_view name, std::string_view prefix, std::uint64_t at) {
  if (name.size() > prefix.size() && name[prefix.size()] == '/' && name.starts_with(prefix)) return;
  fail(at, cat("zip record ", quote(name), " does not lie in the top folder ", quote(prefix), " of the others"));
}

void require_zeros(const Source& source, std::uint64_t length) {
  if (length > kMaxLeadingZeros) fail(0, cat(length, " bytes in front of the first zip record"));
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  source.read_at(0, bytes);
  const auto other = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  if (other != bytes.end()) {
    fail(static_cast<std::uint64_t>(other - bytes.begin()), "bytes other than zeros in front of the first zip record");
  }
}

[[noreturn]] void fail_duplicate(const Record& record) {
  fail(record.header, cat("two zip records are named ", quote(record.name)));
}

void require_unique_pairwise(const std::vector<Record>& records) {
  for (std::size_t i = 1; i < records.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (records[i].name == records[j].name) fail_duplicate(records[i]);
    }
  }
}

/// A record's bytes with header and descriptor.
struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t record;
};

void require_disjoint(const std::vector<Record>& records, const std::vector<std::uint64_t>& ends) {
  std::vector<Extent> extents;
  extents.reserve(records.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) extents.push_back({records[i].header, ends[i], i});
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].begin >= extents[i - 1].end) continue;
    fail(extents[i].begin, cat("zip records ", quote(records[extents[i - 1].record].name), " and ",
                               quote(records[extents[i].record].name), " overlap"));
  }
}

}  // namespace

void Directory::read(const Source& source) {
  clear();
  try {
    read_records(source);
    check_places(source);
    index_names();
  } catch (Error& error) {
    clear();
    error.in_path(source.name());
    throw;
  }
}

void Directory::clear() {
  records_.clear();
  ends_.clear();
  by_name_.clear();
  prefix_ = {};
}

void Directory::read_records(const Source& source) {
  const EndRecord end = read_end_record(source);
  if (end.count == 0) fail(end.directory_offset, "the zip archive has no records");
  if (end.directory_size > kMaxDirectorySize || end.count > end.directory_size / sizeof(CentralBytes)) {
    fail(end.directory_offset,
         cat("the zip directory has an impossible size: ", end.count, " records in ", end.directory_size, " bytes"));
  }
  const auto size = static_cast<std::size_t>(end.directory_size);
  if (names_.size() < size) names_.resize(size);
  const MutableBytes bytes = std::as_writable_bytes(std::span(names_.data(), size));
  source.read_at(end.directory_offset, bytes);
  records_.reserve(static_cast<std::size_t>(end.count));
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < end.count; ++i) at += add_record(source, bytes, at, end.directory_offset);
  if (at != size) fail(end.directory_offset + at, "the zip directory goes on behind its last entry");
}

std::size_t Directory::add_record(const Source& source, Bytes directory, std::size_t at, std::uint64_t offset) {
  const CentralEntry entry = read_central_entry(directory, at, offset);
  if (records_.empty()) prefix_ = first_component(entry.name, offset + at);
  require_prefix(entry.name, prefix_, offset + at);
  const RecordPlace place = check_local_header(source, entry, offset);
  records_.push_back({entry.name, entry.header, place.data, entry.size, entry.crc});
  ends_.push_back(place.end);
  return entry.length;
}

void Directory::check_places(const Source& source) const {
  std::uint64_t first = records_.front().header;
  bool ascending = true;
  for (std::size_t i = 1; i < records_.size(); ++i) {
    first = std::min(first, records_[i].header);
    ascending = ascending && records_[i].header >= ends_[i - 1];
  }
  if (!ascending) require_disjoint(records_, ends_);
  if (first != 0) require_zeros(source, first);
}

void Directory::index_names() {
  if (records_.size() <= kFewRecords) return require_unique_pairwise(records_);
  const auto less = [this](std::uint32_t a, std::uint32_t b) { return name_less(records_[a].name, records_[b].name); };
  by_name_.resize(records_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  if (!std::is_sorted(by_name_.begin(), by_name_.end(), less)) std::sort(by_name_.begin(), by_name_.end(), less);
  const auto twin = std::adjacent_find(by_name_.begin(), by_name_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return records_[a].name == records_[b].name;
  });
  if (twin != by_name_.end()) fail_duplicate(records_[std::max(twin[0], twin[1])]);
}

const Record* Directory::find(std::string_view name) const {
  const std::size_t skip = prefix_.size() + 1;
  const auto tail = [skip](const Record& record) { return record.name.substr(skip); };
  if (by_name_.empty()) {
    const auto at = std::find_if(records_.begin(), records_.end(), [&](const Record& r) { return tail(r) == name; });
    return at == records_.end() ? nullptr : &*at;
  }
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name, [&](std::uint32_t i, std::string_view n) {
    return name_less(tail(records_[i]), n);
  });
  return at == by_name_.end() || tail(records_[*at]) != name ? nullptr : &records_[*at];
}

void require_checksum(const Record& record, std::uint32_t seen) {
  if (record.crc == 0 || record.crc == seen) return;
  fail(record.data, cat("zip record ", quote(record.name), " is damaged: its checksum is not the stored one"));
}

bool starts_like_zip(Bytes first_bytes) {
  return first_bytes.size() >= sizeof kLocalSignature && load_le<std::uint32_t>(first_bytes.data()) == kLocalSignature;
}

bool starts_like_zip(const Source& source, std::uint64_t offset) {
  std::array<std::byte, sizeof kLocalSignature> first{};
  if (offset > source.size() || source.size() - offset < first.size()) return false;
  source.read_at(offset, first);
  return starts_like_zip(first);
}

}  // namespace fsdpckpt::zip
