#include "report/inspect_text.h"

#include <fsdpckpt/error.h>

#include "base/text.h"
#include "formats/document.h"
#include "report/table.h"
#include "report/value_text.h"
#include "report/weights_only.h"

namespace fsdpckpt {
namespace {

using Align = Table::Align;

std::string plural(std::uint64_t count, std::string_view one) { return cat(count, " ", one, count == 1 ? "" : "s"); }

class InspectText {
 public:
  InspectText(const Checkpoint::Data& checkpoint, const Overview& overview, const InspectShow& show)
      : checkpoint_(checkpoint), overview_(overview), show_(show) {}

  std::string text() {
    std::string text = summary();
    if (show_.entries && overview_.tensors > 0) text += "\n" + entries();
    if (show_.objects && overview_.objects > 0) text += "\n" + objects();
    if (show_.chunks && overview_.tensors > 0) text += "\n" + chunks();
    if (show_.files) text += "\n" + files();
    return text;
  }

 private:
  [[nodiscard]] std::string size(std::uint64_t bytes) const {
    return show_.exact_bytes ? std::to_string(bytes) : human_size(bytes);
  }

  [[nodiscard]] std::string summary() const {
    std::string text = cat(escape(checkpoint_.root), ": ", checkpoint_.kind);
    if (!overview_.format.empty()) text += cat(" (", overview_.format, ")");
    if (overview_.data_files > 0) text += cat(", ", plural(overview_.data_files, "rank file"));
    text += cat(", ", size(overview_.file_bytes), "\n", plural(overview_.tensors, "tensor"), ", ",
                human_count(overview_.elements), " params, ", size(overview_.bytes));
    std::string dtypes;
    for (int i = 0; i < kDTypeCount; ++i) {
      const Overview::PerDType& one = overview_.per_dtype[static_cast<std::size_t>(i)];
      if (one.tensors > 0)
        dtypes += cat(dtypes.empty() ? ": " : ", ", name(static_cast<DType>(i)), " ", size(one.bytes), " (",
                      one.tensors, ")");
    }
    text += cat(dtypes, "; ", plural(overview_.objects, "object"));
    if (overview_.ranks > 0) text += cat("; written by ", plural(overview_.ranks, "rank"));
    return text + "\n";
  }

  [[nodiscard]] std::string entries() const {
    Table table({"entry", "dtype", "shape", "size", "chunks"},
                {Align::left, Align::left, Align::left, Align::right, Align::left});
    for (const EntryId id : overview_.order) {
      const Entry entry = checkpoint_.index.entry(id);
      if (entry.kind == EntryKind::tensor) {
        table.add({escape(entry.name), std::string(name(entry.dtype)), shape_text(entry.shape), size(byte_count(entry)),
                   chunks_text(checkpoint_, id)});
      }
    }
    return table.text();
  }

  /// Objects that weights_only refuses are marked in a last column, which is there only when it is needed.
  [[nodiscard]] std::string objects() const {
    std::vector<std::vector<std::string>> rows;
    bool any_refused = false;
    for (const EntryId id : overview_.order) {
      if (checkpoint_.index.entry(id).kind != EntryKind::object) continue;
      rows.push_back(object_row(id));
      any_refused |= !rows.back().back().empty();
    }
    Table table({"object", "size", "value", any_refused ? "weights_only" : ""},
                {Align::left, Align::right, Align::left, Align::left});
    for (auto& row : rows) table.add(std::move(row));
    return table.text();
  }

  [[nodiscard]] std::vector<std::string> object_row(EntryId id) const {
    const DocumentPart part = read_object(checkpoint_, id);
    const std::uint64_t bytes = object_size(checkpoint_, id);
    return {escape(checkpoint_.index.entry(id).name), bytes > 0 ? size(bytes) : "-",
            value_text(part.document->values, part.node), refusal_text(refused_globals(part))};
  }

  [[nodiscard]] std::string chunks() const {
    Table table({"entry", "chunk", "file", "offset", "length"},
                {Align::left, Align::left, Align::left, Align::right, Align::right});
    for (const EntryId id : overview_.order) {
      const Entry entry = checkpoint_.index.entry(id);
      for (std::uint64_t i = 0; entry.kind == EntryKind::tensor && i < entry.chunk_count; ++i) {
        const Chunk chunk = checkpoint_.index.chunk(id, i);
        const std::string file = chunk.is_stored ? escape(checkpoint_.file_set->relative_path(chunk.extent.file)) : "-";
        table.add({escape(entry.name), box_text(chunk.offsets, chunk.sizes), file, std::to_string(chunk.extent.offset),
                   std::to_string(chunk.extent.length)});
      }
    }
    return table.text();
  }

  [[nodiscard]] std::string files() const {
    Table table({"file", "size"}, {Align::left, Align::right});
    for (const SourceFile& file : checkpoint_.files) table.add({escape(file.path), size(file.size)});
    return table.text();
  }

  const Checkpoint::Data& checkpoint_;
  const Overview& overview_;
  const InspectShow& show_;
};

}  // namespace

std::string inspect_text(const Checkpoint::Data& checkpoint, const Overview& overview, const InspectShow& show) {
  return InspectText(checkpoint, overview, show).text();
}

}  // namespace fsdpckpt
