#include "report/inspect_json.h"

#include "formats/document.h"
#include "report/json_text.h"
#include "report/value_text.h"
#include "report/weights_only.h"

namespace fsdpckpt {
namespace {

using nlohmann::ordered_json;

ordered_json chunk_json(const Checkpoint::Data& checkpoint, const Chunk& chunk) {
  ordered_json json = {{"offsets", chunk.offsets}, {"sizes", chunk.sizes}};
  if (chunk.is_stored) {
    json["file"] = json_text(checkpoint.file_set->relative_path(chunk.extent.file));
    json["offset"] = chunk.extent.offset;
    json["length"] = chunk.extent.length;
  }
  return json;
}

ordered_json tensor_json(const Checkpoint::Data& checkpoint, EntryId id, const InspectShow& show) {
  const Entry entry = checkpoint.index.entry(id);
  ordered_json json = {{"name", json_text(entry.name)}, {"kind", "tensor"},
                       {"dtype", name(entry.dtype)},    {"shape", entry.shape},
                       {"bytes", byte_count(entry)},    {"chunk_count", entry.chunk_count}};
  if (!show.chunks) return json;
  json["chunks"] = ordered_json::array();
  for (std::uint64_t i = 0; i < entry.chunk_count; ++i)
    json["chunks"].push_back(chunk_json(checkpoint, checkpoint.index.chunk(id, i)));
  return json;
}

ordered_json object_json(const Checkpoint::Data& checkpoint, EntryId id) {
  const DocumentPart part = read_object(checkpoint, id);
  ordered_json refused = ordered_json::array();
  for (const std::string& global : refused_globals(part)) refused.push_back(json_text(global));
  return {{"name", json_text(checkpoint.index.entry(id).name)},
          {"kind", "object"},
          {"bytes", object_size(checkpoint, id)},
          {"value", json_text(value_text(part.document->values, part.node, 200))},
          {"weights_only_refuses", std::move(refused)}};
}

ordered_json totals_json(const Overview& overview) {
  ordered_json json = {{"tensors", overview.tensors},     {"objects", overview.objects},
                       {"elements", overview.elements},   {"bytes", overview.bytes},
                       {"chunks", overview.chunks},       {"ranks", overview.ranks},
                       {"dtypes", ordered_json::object()}};
  for (int i = 0; i < kDTypeCount; ++i) {
    const Overview::PerDType& one = overview.per_dtype[static_cast<std::size_t>(i)];
    if (one.tensors > 0)
      json["dtypes"][std::string(name(static_cast<DType>(i)))] = {{"tensors", one.tensors}, {"bytes", one.bytes}};
  }
  return json;
}

}  // namespace

ordered_json inspect_json(const Checkpoint::Data& checkpoint, const Overview& overview, const InspectShow& show) {
  ordered_json json = {{"schema", "fsdpckpt.inspect/1"},
                       {"ok", true},
                       {"path", json_text(checkpoint.root)},
                       {"kind", checkpoint.kind},
                       {"format", overview.format}};
  json["totals"] = totals_json(overview);
  json["files"] = ordered_json::array();
  for (const SourceFile& file : checkpoint.files)
    json["files"].push_back({{"path", json_text(file.path)}, {"bytes", file.size}});
  json["entries"] = ordered_json::array();
  for (const EntryId id : overview.order) {
    const bool is_tensor = checkpoint.index.entry(id).kind == EntryKind::tensor;
    json["entries"].push_back(is_tensor ? tensor_json(checkpoint, id, show) : object_json(checkpoint, id));
  }
  json["notes"] = checkpoint.notes;
  return json;
}

}  // namespace fsdpckpt
