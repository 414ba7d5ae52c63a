#include "zip/extra.h"

#include <fsdpckpt/error.h>

#include "base/text.h"
#include "zip/format.h"

namespace fsdpckpt::zip {

void fail(std::uint64_t at, std::string what) {
  Where where;
  where.offset = at;
  throw Error(ErrorKind::input, std::move(what), std::move(where));
}

std::optional<Bytes> find_extra(Bytes extra, std::uint16_t id, std::uint64_t at) {
  std::optional<Bytes> found;
  while (!extra.empty()) {
    if (extra.size() < kExtraHead) fail(at, "an extra field of the zip header is cut short");
    const auto length = load_le<std::uint16_t>(extra.data() + 2);
    if (extra.size() - kExtraHead < length) fail(at, "an extra field of the zip header is cut short");
    if (load_le<std::uint16_t>(extra.data()) == id) {
      if (found) fail(at, cat("the zip header has two extra fields with id ", id));
      found = extra.subspan(kExtraHead, length);
    }
    extra = extra.subspan(kExtraHead + length);
  }
  return found;
}

Zip64Values::Zip64Values(Bytes extra, std::string_view record, std::uint64_t at)
    : left_(find_extra(extra, kZip64Extra, at)), record_(record), at_(at) {}

std::uint64_t Zip64Values::resolve(std::uint32_t field) {
  if (field != kSaturated32) return field;
  if (!left_) fail(at_, cat("zip record ", quote(record_), " needs a zip64 extra field and has none"));
  if (left_->size() < sizeof(std::uint64_t)) {
    fail(at_, cat("the zip64 extra field of zip record ", quote(record_), " is too short"));
  }
  const auto value = load_le<std::uint64_t>(left_->data());
  left_ = left_->subspan(sizeof value);
  return value;
}

void require_plain(std::uint16_t flags, std::uint16_t method, std::string_view record, std::uint64_t at) {
  if ((flags & kFlagEncrypted) != 0) fail(at, cat("zip record ", quote(record), " is encrypted"));
  if ((flags & ~(kFlagDescriptor | kFlagUtf8)) != 0) {
    fail(at, cat("zip record ", quote(record), " has unknown flags: ", flags));
  }
  if (method != kMethodStored) {
    fail(at, cat("zip record ", quote(record), " is compressed (method ", method, "), expected a stored one"));
  }
}

}  // namespace fsdpckpt::zip
