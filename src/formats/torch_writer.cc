#include "formats/torch_writer.h"

#include <fsdpckpt/error.h>

#include <algorithm>

#include "base/text.h"
#include "formats/object_writer.h"
#include "formats/payload.h"
#include "formats/tensor_value.h"
#include "pickle/writer.h"

namespace fsdpckpt {
namespace {

using Node = StateTree::Node;

constexpr std::string_view kPrefix = "archive/";  // what torch.save to a stream uses; any one component would do
constexpr std::uint32_t kPageAlignment =
    4096;  // large storages: whole pages are written, and can be mapped or reflinked
constexpr std::uint32_t kSmallAlignment = 64;  // torch's own
constexpr std::uint64_t kLargeStorage = 64 << 10;

class Planner {
 public:
  Planner(const Checkpoint::Data& checkpoint, const Selection& selection, ObjectPolicy policy, bool keep_device)
      : checkpoint_(checkpoint),
        selection_(selection),
        policy_(policy),
        keep_device_(keep_device),
        objects_(checkpoint, writer_, policy, keep_device, [this](const StoredStorage& storage, EntryId entry) {
          return add_payload({.source = OutputRecord::Source::storage, .entry = entry, .storage = storage},
                             storage.size);
        }) {}

  TorchFilePlan plan() {
    write(StateTree::kRoot);
    lay_out();
    plan_.notes = objects_.notes();
    if (policy_ == ObjectPolicy::drop) note_dropped();
    return std::move(plan_);
  }

 private:
  void note_dropped() {
    std::uint64_t count = 0;
    for (EntryId id = 0; id < checkpoint_.index.entry_count(); ++id) {
      count += selection_.entries[id] && checkpoint_.index.entry(id).kind == EntryKind::object ? 1 : 0;
    }
    if (count > 0)
      plan_.notes.push_back(cat(count, count == 1 ? " object is" : " objects are", " left out (--objects drop)"));
  }

  void write(Node node) {
    switch (checkpoint_.tree.kind(node)) {
      case StateTree::Kind::nothing:
        return writer_.none();
      case StateTree::Kind::dict:
        return write_dict(node);
      case StateTree::Kind::list:
        return write_list(node);
      case StateTree::Kind::entry:
        return write_entry(checkpoint_.tree.entry(node));
    }
  }

  bool is_wanted(Node node) const {
    if (!selection_.nodes[node]) return false;
    const bool is_object = checkpoint_.tree.kind(node) == StateTree::Kind::entry &&
                           checkpoint_.index.entry(checkpoint_.tree.entry(node)).kind == EntryKind::object;
    return !(is_object && policy_ == ObjectPolicy::drop);
  }

  /// With objects dropped, containers of nothing but objects go with them.
  bool has_content(Node node) const {
    if (!is_wanted(node)) return false;
    const auto& children = checkpoint_.tree.children(node);
    if (checkpoint_.tree.kind(node) == StateTree::Kind::entry || policy_ != ObjectPolicy::drop) return true;
    return std::ranges::any_of(children, [&](const StateTree::Child& child) { return has_content(child.node); });
  }

  void write_key(const Key& key) {
    if (key.is_number)
      writer_.integer(key.number);
    else
      writer_.shared_text(key.text);
  }

  void write_dict(Node node) {
    writer_.empty_dict();
    writer_.mark();
    for (const StateTree::Child& child : checkpoint_.tree.children(node)) {
      if (!has_content(child.node)) continue;
      write_key(child.key);
      write(child.node);
    }
    writer_.set_items();
  }

  void write_list(Node node) {
    writer_.empty_list();
    writer_.mark();
    for (const StateTree::Child& child : checkpoint_.tree.children(node)) {
      if (has_content(child.node))
        write(child.node);
      else
        writer_.none();
    }
    writer_.appends();
  }

  void write_entry(EntryId id) {
    const Entry entry = checkpoint_.index.entry(id);
    if (entry.kind == EntryKind::object) {
      objects_.write(id);
      ++plan_.objects;
      return;
    }
    const std::uint64_t bytes = byte_count(entry);
    const std::string key = add_payload({.source = OutputRecord::Source::tensor, .entry = id}, bytes);
    write_tensor(writer_, entry.dtype, entry.shape, key, keep_device_ ? location_of(id) : "cpu");
    ++plan_.tensors;
    plan_.tensor_bytes += bytes;
  }

  /// The device tag of the entry's first stored chunk.
  std::string location_of(EntryId id) {
    const Entry entry = checkpoint_.index.entry(id);
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i) {
      const Chunk chunk = checkpoint_.index.chunk(id, i);
      if (!chunk.is_stored || chunk.extent.encoding != Encoding::torch_zip) continue;
      const auto file = checkpoint_.file_set->source(chunk.extent.file);
      const SliceSource item(*file, chunk.extent.offset, chunk.extent.length);
      const EndsCachedSource ends(item);
      finder_.in_archive(ends,
                         {.name = entry.name, .dtype = entry.dtype, .sizes = chunk.sizes, .offsets = chunk.offsets});
      return finder_.location();
    }
    return "cpu";
  }

  /// A record data/K, numbered in the order of first use as torch does.
  std::string add_payload(OutputRecord record, std::uint64_t bytes) {
    payloads_.push_back(std::move(record));
    sizes_.push_back(bytes);
    return std::to_string(payloads_.size() - 1);
  }

  void add(std::string_view name, std::uint64_t size, std::uint32_t alignment, OutputRecord record) {
    plan_.layout.add(cat(kPrefix, name), size, alignment);
    plan_.records.push_back(std::move(record));
  }

  void add_text(std::string_view name, std::string text) {
    const std::uint64_t size = text.size();
    add(name, size, 1, {.source = OutputRecord::Source::text, .text = std::move(text)});
  }

  void lay_out() {
    add_text("data.pkl", writer_.finish());
    add_text("byteorder", "little");
    for (std::size_t i = 0; i < payloads_.size(); ++i) {
      add(cat("data/", i), sizes_[i], sizes_[i] >= kLargeStorage ? kPageAlignment : kSmallAlignment,
          std::move(payloads_[i]));
    }
    add_text("version", "3\n");
  }

  const Checkpoint::Data& checkpoint_;
  const Selection& selection_;
  ObjectPolicy policy_;
  bool keep_device_;
  pickle::Writer writer_;
  ObjectWriter objects_;
  PayloadFinder finder_;
  std::vector<OutputRecord> payloads_;
  std::vector<std::uint64_t> sizes_;
  TorchFilePlan plan_;
};

}  // namespace

TorchFilePlan plan_torch_file(const Checkpoint::Data& checkpoint, const Selection& selection, ObjectPolicy policy,
                              bool keep_device) {
  return Planner(checkpoint, selection, policy, keep_device).plan();
}

}  // namespace fsdpckpt
