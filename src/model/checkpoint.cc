#include "base/checked.h"
#include "base/text.h"
#include "model/checkpoint_data.h"

namespace fsdpckpt {

Checkpoint::Checkpoint() : data_(std::make_unique<Data>()) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

const std::string& Checkpoint::kind() const { return data_->kind; }
const std::string& Checkpoint::root() const { return data_->root; }
std::size_t Checkpoint::entry_count() const { return data_->index.entry_count(); }
Entry Checkpoint::entry(EntryId entry) const { return data_->index.entry(entry); }
Chunk Checkpoint::chunk(EntryId entry, std::uint64_t index) const { return data_->index.chunk(entry, index); }
EntryId Checkpoint::find(std::string_view name) const { return data_->index.find(name); }
const std::vector<SourceFile>& Checkpoint::files() const { return data_->files; }
const std::vector<std::string>& Checkpoint::notes() const { return data_->notes; }
const std::vector<Error>& Checkpoint::damages() const { return data_->damages; }
std::uint64_t Checkpoint::index_bytes() const { return data_->index.bytes(); }

std::uint64_t element_count(const Entry& entry) {
  std::uint64_t count = 1;
  for (const std::int64_t size : entry.shape) {
    count = checked_mul(count, checked_size(size, "a tensor dimension"), "the number of elements");
  }
  return count;
}

std::uint64_t byte_count(const Entry& entry) {
  if (entry.kind == EntryKind::object) return 0;
  return checked_mul<std::uint64_t>(element_count(entry), item_size(entry.dtype), "the size of a tensor");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += cat(i == 0 ? "" : ", ", shape[i]);
  return text + "]";
}

std::string box_text(std::span<const std::int64_t> offsets, std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint64_t end = static_cast<std::uint64_t>(offsets[i]) + static_cast<std::uint64_t>(sizes[i]);
    text += cat(i == 0 ? "" : ", ", offsets[i], ":", end);
  }
  return text + "]";
}

}  // namespace fsdpckpt
