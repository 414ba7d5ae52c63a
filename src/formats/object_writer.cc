#include "formats/object_writer.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "formats/document.h"
#include "formats/parameter_lists.h"
#include "formats/tensor_value.h"

namespace fsdpckpt {
namespace {

using pickle::FoundGlobal;
using pickle::NodeId;

std::string text_of(const FoundGlobal& global) { return cat(global.module, ".", global.name); }

constexpr std::size_t kMostNamed = 8;

std::string names_of(const std::vector<FoundGlobal>& globals) {
  std::vector<std::string> names;
  names.reserve(globals.size());
  for (const FoundGlobal& global : globals) names.push_back(quote(text_of(global)));
  return list_of(names, kMostNamed);
}

/// Classes whose instances are one rank's part of a tensor: carried over they would only look whole.
bool is_shard_class(const FoundGlobal& global) {
  return (global.name == "ShardedTensor" && global.module.starts_with("torch.distributed._shard")) ||
         (global.name == "DTensor" && global.module.starts_with("torch.distributed"));
}

std::string pickled(const DocumentPart& part) {
  pickle::Writer writer;
  const pickle::Values& values = part.document->values;
  pickle::TreeWriter(writer, values, [&](NodeId id) {
    write_storage(writer, storage_named(values, id));
  }).write(part.node);
  return writer.finish();
}

bool same_storages(const Document& a, const Document& b) {
  return std::ranges::equal(a.storages, b.storages, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.size == y.second.size && x.second.crc == y.second.crc;
  });
}

}  // namespace

struct ObjectWriter::Open {
  std::shared_ptr<const Document> document;
  std::unique_ptr<pickle::TreeWriter> tree;
  std::map<std::string, std::string, std::less<>> keys;  ///< storage key there -> key in the output
  EntryId entry = 0;
};

ObjectWriter::ObjectWriter(const Checkpoint::Data& checkpoint, pickle::Writer& writer, ObjectPolicy policy,
                           bool keep_device, AddStorage add_storage)
    : checkpoint_(checkpoint),
      writer_(writer),
      policy_(policy),
      keep_device_(keep_device),
      add_storage_(std::move(add_storage)) {}

ObjectWriter::~ObjectWriter() = default;

void ObjectWriter::judge(const pickle::GlobalScan& scan, EntryId entry, const DocumentPart& part) {
  const Where where{.path = part.document->name, .entry = std::string(checkpoint_.index.entry(entry).name)};
  if (std::ranges::any_of(scan.all, is_shard_class)) {
    throw Error(ErrorKind::input,
                "the object holds sharded tensors of one rank only; the other ranks' parts were never saved", where,
                "leave it out with -x and its name");
  }
  if (policy_ == ObjectPolicy::all) return;
  if (!scan.dangerous.empty()) {
    throw Error(
        ErrorKind::refused,
        cat("the object names ", names_of(scan.dangerous), ", which can run code when it is loaded; nothing was run"),
        where, "--objects drop leaves all objects out");
  }
  if (policy_ == ObjectPolicy::safe && !scan.refused.empty()) {
    throw Error(ErrorKind::refused,
                cat("the object needs ", names_of(scan.refused), ", which torch.load(weights_only=True) refuses"),
                where, "--objects keep carries it over, --objects drop leaves all objects out");
  }
}

/// Rank-local metadata holds every rank's copy of an object; they may differ (random states), and only one fits.
void ObjectWriter::compare_copies(EntryId entry, const DocumentPart& first) {
  const Entry object = checkpoint_.index.entry(entry);
  if (object.chunk_count < 2 || checkpoint_.parts.contains(entry)) return;
  const std::string bytes = pickled(first);
  for (std::uint64_t copy = 1; copy < object.chunk_count; ++copy) {
    const DocumentPart other = read_object(checkpoint_, entry, copy);
    if (pickled(other) == bytes && same_storages(*first.document, *other.document)) continue;
    notes_.push_back(cat("object ", quote(object.name), " differs between ranks; the lowest rank's value is taken"));
    return;
  }
}

void ObjectWriter::write_persistent(Open& open, EntryId entry, NodeId id) {
  StorageRef storage = storage_named(open.document->values, id);
  const auto stored = open.document->storages.find(storage.key);
  const auto bytes = static_cast<std::uint64_t>(storage.element_count) * item_size(storage.dtype);
  if (stored == open.document->storages.end() || stored->second.size != bytes) {
    throw Error(ErrorKind::input, cat("a tensor in the object needs a record ", quote(cat("data/", storage.key)),
                                      " of ", bytes, " bytes"));
  }
  auto known = open.keys.find(storage.key);
  if (known == open.keys.end())
    known = open.keys.emplace(std::string(storage.key), add_storage_(stored->second, entry)).first;
  storage.key = known->second;
  if (!keep_device_) storage.location = "cpu";
  write_storage(writer_, storage);
}

void ObjectWriter::write(EntryId entry) {
  const DocumentPart part = read_object(checkpoint_, entry);
  try {
    const pickle::GlobalScan scan = pickle::scan_globals(part.document->values, part.node);
    judge(scan, entry, part);
    compare_copies(entry, part);
    for (const FoundGlobal& global : scan.refused) unsafe_globals_.insert(text_of(global));
    if (scan.needs_torch > needs_torch_) needs_torch_ = scan.needs_torch;
    auto& open = open_[part.document.get()];
    if (!open) {
      open = std::make_unique<Open>();
      open->document = part.document;
      open->tree = std::make_unique<pickle::TreeWriter>(
          writer_, part.document->values,
          [this, raw = open.get()](NodeId id) { write_persistent(*raw, raw->entry, id); });
    }
    open->entry = entry;
    if (const auto names = checkpoint_.renamed_texts.find(entry); names != checkpoint_.renamed_texts.end()) {
      for (const NodeId list : parameter_lists(part.document->values, part.node))
        open->tree->rename_items(list, names->second);
    }
    open->tree->write(part.node);
  } catch (Error& error) {
    throw error.in_path(part.document->name).in_entry(std::string(checkpoint_.index.entry(entry).name));
  }
  if (!checkpoint_.parts.contains(entry)) open_.erase(part.document.get());
}

std::vector<std::string> ObjectWriter::notes() const {
  std::vector<std::string> notes = notes_;
  if (!unsafe_globals_.empty()) {
    std::string list;
    for (const std::string& name : unsafe_globals_) list += cat(list.empty() ? "" : ", ", quote(name));
    notes.push_back(cat("torch.load needs weights_only=False for this file, because of ", list));
  } else if (needs_torch_ != "2.0") {
    notes.push_back(
        cat("torch.load(weights_only=True) takes this file from torch ", needs_torch_, " on, because of its objects"));
  }
  return notes;
}

}  // namespace fsdpckpt
