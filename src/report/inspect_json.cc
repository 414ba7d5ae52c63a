#include "report/inspect_json.h"

#include <nlohmann/json.hpp>

#include "formats/file_use.h"
#include "report/entry_order.h"
#include "report/error_report.h"
#include "report/json_text.h"
#include "report/tree_paths.h"

namespace fsdpckpt {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kPiece = 64 << 10;

ordered_json chunk_json(const Checkpoint::Data& checkpoint, const Chunk& chunk) {
  ordered_json json = {{"offsets", chunk.offsets}, {"sizes", chunk.sizes}};
  if (chunk.is_stored) {
    json["file"] = json_text(checkpoint.file_set->relative_path(chunk.extent.file));
    json["offset"] = chunk.extent.offset;
    json["length"] = chunk.extent.length;
  }
  return json;
}

ordered_json path_json(const std::vector<Key>& path) {
  ordered_json json = ordered_json::array();
  for (const Key& key : path) {
    if (key.is_number)
      json.push_back(key.number);
    else
      json.push_back(json_text(key.text));
  }
  return json;
}

ordered_json texts_json(const std::vector<std::string>& texts) {
  ordered_json json = ordered_json::array();
  for (const std::string& text : texts) json.push_back(json_text(text));
  return json;
}

void add_totals(const Totals& totals, ordered_json& json) {
  json["tensors"] = totals.tensors;
  json["objects"] = totals.objects;
  json["elements"] = totals.elements;
  json["bytes"] = totals.bytes;
}

ordered_json totals_json(const Overview& overview) {
  ordered_json json;
  add_totals(overview.totals, json);
  json["chunks"] = overview.chunks;
  json["ranks"] = overview.ranks;
  json["dtypes"] = ordered_json::object();
  for (int i = 0; i < kDTypeCount; ++i) {
    const Overview::PerDType& one = overview.per_dtype[static_cast<std::size_t>(i)];
    if (one.tensors > 0)
      json["dtypes"][std::string(name(static_cast<DType>(i)))] = {{"tensors", one.tensors}, {"bytes", one.bytes}};
  }
  return json;
}

ordered_json parts_json(const Overview& overview) {
  ordered_json json = ordered_json::array();
  for (const Part& part : overview.parts) {
    ordered_json& one = json.emplace_back(ordered_json::object());
    if (!part.is_top) one["name"] = json_text(part.name);
    add_totals(part.totals, one);
    if (part.has_flat_keys) one["flat_keys"] = true;
  }
  return json;
}

std::string_view state_name(FileUse::State state) {
  switch (state) {
    case FileUse::State::missing:
      return "missing";
    case FileUse::State::cut:
      return "too short";
    case FileUse::State::unreadable:
      return "unreadable";
    case FileUse::State::unreferenced:
      return "not referenced";
    case FileUse::State::whole:
      break;
  }
  return "whole";
}

ordered_json files_json(const Checkpoint::Data& checkpoint) {
  ordered_json json = ordered_json::array();
  for (const FileUse& use : file_uses(checkpoint)) {
    ordered_json& one = json.emplace_back(
        ordered_json{{"path", json_text(use.path)}, {"bytes", use.size}, {"state", state_name(use.state)}});
    if (use.is_counted) {
      one["referenced"] = use.referenced;
      one["unreferenced"] = use.unreferenced;
    }
    if (use.needed > 0) one["needed"] = use.needed;
  }
  return json;
}

class Entries {
 public:
  Entries(const Inspected& inspected, const InspectShow& show)
      : inspected_(inspected), show_(show), paths_(inspected.checkpoint.tree) {}

  void write(const std::function<void(std::string_view)>& write) {
    std::string text;
    bool is_first = true;
    for (const EntryId id : inspected_.order) {
      text += (is_first ? "" : ",") + entry(id).dump();
      is_first = false;
      if (text.size() < kPiece) continue;
      write(text);
      text.clear();
    }
    write(text);
  }

 private:
  ordered_json entry(EntryId id) {
    const Entry entry = inspected_.checkpoint.index.entry(id);
    ordered_json json = {{"name", json_text(entry.name)}, {"path", path_json(paths_.path(id))}};
    if (entry.kind == EntryKind::tensor)
      add_tensor(id, entry, json);
    else
      add_object(id, json);
    return json;
  }

  void add_tensor(EntryId id, const Entry& entry, ordered_json& json) const {
    json["kind"] = "tensor";
    json["dtype"] = name(entry.dtype);
    json["shape"] = entry.shape;
    json["bytes"] = byte_count(entry);
    json["chunk_count"] = entry.chunk_count;
    if (!show_.chunks) return;
    ordered_json& chunks = json["chunks"] = ordered_json::array();
    for (std::uint64_t i = 0; i < entry.chunk_count; ++i)
      chunks.push_back(chunk_json(inspected_.checkpoint, inspected_.checkpoint.index.chunk(id, i)));
  }

  /// The objects were read in the order in which they come here.
  void add_object(EntryId id, ordered_json& json) {
    json["kind"] = "object";
    json["bytes"] = object_size(inspected_.checkpoint, id);
    if (!show_.objects) return;
    const ShownObject& object = inspected_.objects[next_object_++];
    if (object.error) {
      json["error"] = json_text(object.error->what());
      return;
    }
    json["value"] = json_text(object.value);
    json["globals"] = texts_json(object.globals);
    json["weights_only"] = object.refused.empty();
    if (object.refused.empty()) json["weights_only_since"] = object.needs_torch;
    json["weights_only_refuses"] = texts_json(object.refused);
  }

  const Inspected& inspected_;
  const InspectShow& show_;
  TreePaths paths_;
  std::size_t next_object_ = 0;
};

}  // namespace

void write_inspect_json(const Inspected& inspected, const InspectShow& show, const std::optional<Error>& error,
                        const std::function<void(std::string_view)>& write) {
  const Checkpoint::Data& checkpoint = inspected.checkpoint;
  const Overview& overview = inspected.overview;
  ordered_json json = {{"schema", "fsdpckpt.inspect/1"}, {"ok", !error}};
  if (error) json["error"] = error_json(*error);
  json["path"] = json_text(checkpoint.root);
  json["kind"] = checkpoint.kind;
  json["format"] = overview.format;
  json["framework"] = overview.framework;
  json["writer"] = checkpoint.writer;
  json["totals"] = totals_json(overview);
  json["parts"] = parts_json(overview);
  json["files"] = files_json(checkpoint);
  json["notes"] = texts_json(checkpoint.notes);
  std::string head = json.dump();
  head.pop_back();
  write(head + ",\"entries\":[");
  Entries(inspected, show).write(write);
  write("]}\n");
}

}  // namespace fsdpckpt
