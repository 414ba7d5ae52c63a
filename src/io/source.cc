#include "io/source.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "io/errors.h"

namespace fsdpckpt {
namespace {

void require_range(const Source& source, std::string_view what, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t size = source.size();
  if (offset > size || length > size - offset) throw too_short(what, offset, length, size, source.name());
}

void copy(const std::byte* from, MutableBytes out) {
  if (!out.empty()) std::memcpy(out.data(), from, out.size());
}

}  // namespace

void MemorySource::read_at(std::uint64_t offset, MutableBytes out) const {
  require_range(*this, "data", offset, out.size());
  copy(bytes_.data() + offset, out);
}

SliceSource::SliceSource(const Source& parent, std::uint64_t offset, std::uint64_t length)
    : parent_(parent), offset_(offset), length_(length) {
  require_range(parent, "data", offset, length);
}

void SliceSource::read_at(std::uint64_t offset, MutableBytes out) const {
  require_range(*this, "slice", offset, out.size());
  parent_.read_at(offset_ + offset, out);
}

std::string SliceSource::name() const { return cat(parent_.name(), '@', offset_); }

EndsCachedSource::EndsCachedSource(const Source& parent, std::uint64_t window) : parent_(parent) {
  const std::uint64_t size = parent.size();
  head_.resize(std::min(window, size));
  tail_at_ = std::max<std::uint64_t>(head_.size(), size - head_.size());
  tail_.resize(size - tail_at_);
  parent.read_at(0, head_);
  if (!tail_.empty()) parent.read_at(tail_at_, tail_);
}

void EndsCachedSource::read_at(std::uint64_t offset, MutableBytes out) const {
  require_range(*this, "data", offset, out.size());
  if (offset + out.size() <= head_.size()) return copy(head_.data() + offset, out);
  if (offset >= tail_at_) return copy(tail_.data() + (offset - tail_at_), out);
  parent_.read_at(offset, out);
}

}  // namespace fsdpckpt
