#include "report/inspect_text.h"

#include <algorithm>

#include "base/text.h"
#include "formats/file_use.h"
#include "report/chunks_text.h"
#include "report/table.h"
#include "report/tree_totals.h"

namespace fsdpckpt {
namespace {

using Align = Table::Align;

constexpr std::size_t kMostParts = 8;
constexpr std::size_t kDeepest = 30;  ///< levels that are indented

class InspectText {
 public:
  InspectText(const Inspected& inspected, const InspectShow& show)
      : inspected_(inspected), checkpoint_(inspected.checkpoint), overview_(inspected.overview), show_(show) {}

  std::string text() {
    std::string text = summary();
    if (show_.entries && overview_.totals.tensors > 0) text += "\n" + entries();
    if (show_.objects && overview_.totals.objects > 0) text += "\n" + objects();
    if (show_.chunks && overview_.totals.tensors > 0) text += "\n" + chunks();
    if (show_.tree) text += tree();
    if (show_.files) text += "\n" + files();
    return text;
  }

 private:
  [[nodiscard]] std::string size(std::uint64_t bytes) const {
    return show_.exact_bytes ? std::to_string(bytes) : human_size(bytes);
  }

  [[nodiscard]] std::string params(std::uint64_t count) const {
    return show_.exact_bytes ? std::to_string(count) : human_count(count);
  }

  [[nodiscard]] std::string summary() const {
    std::string text = cat(escape(checkpoint_.root), ": ", checkpoint_.kind);
    if (!overview_.format.empty()) text += cat(" (", overview_.format, ")");
    if (overview_.rank_files > 0) text += cat(", ", plural(overview_.rank_files, "rank file"), missing_files());
    const Totals& totals = overview_.totals;
    text += cat(", ", size(overview_.file_bytes), "\n", plural(totals.tensors, "tensor"), ", ", params(totals.elements),
                " params, ", size(totals.bytes), dtypes(), "; ", plural(totals.objects, "object"));
    if (overview_.ranks > 0) text += cat("; written by ", plural(overview_.ranks, "rank"));
    return text + "\n" + parts();
  }

  /// " (1 missing, 2 too short)"
  [[nodiscard]] std::string missing_files() const {
    const auto& problems = checkpoint_.file_problems;
    const auto missing = std::ranges::count_if(problems, &FileProblem::missing);
    const auto cut = static_cast<std::int64_t>(problems.size()) - missing;
    if (problems.empty()) return {};
    return cat(" (", missing > 0 ? cat(missing, " missing") : "", missing > 0 && cut > 0 ? ", " : "",
               cut > 0 ? cat(cut, " too short") : "", ")");
  }

  [[nodiscard]] std::string dtypes() const {
    std::string text;
    for (int i = 0; i < kDTypeCount; ++i) {
      const Overview::PerDType& one = overview_.per_dtype[static_cast<std::size_t>(i)];
      if (one.tensors == 0) continue;
      text +=
          cat(text.empty() ? ": " : ", ", name(static_cast<DType>(i)), " ", size(one.bytes), " (", one.tensors, ")");
    }
    return text;
  }

  /// One line, when there is more than one part: "model 1.9 KiB (10 tensors), optimizer ..., 8 objects at the top".
  [[nodiscard]] std::string parts() const {
    const auto& parts = overview_.parts;
    if (parts.size() < 2) return {};
    std::string text;
    for (std::size_t i = 0; i < parts.size() && i < kMostParts; ++i) text += (i == 0 ? "" : ", ") + part(parts[i]);
    if (parts.size() > kMostParts) text += cat(", … ", parts.size() - kMostParts, " more");
    return text + "\n";
  }

  [[nodiscard]] std::string part(const Part& part) const {
    const Totals& totals = part.totals;
    std::string counts = totals.tensors > 0 ? plural(totals.tensors, "tensor") : "";
    if (totals.objects > 0) counts += cat(counts.empty() ? "" : ", ", plural(totals.objects, "object"));
    if (part.has_flat_keys) counts += ", flat keys";
    const std::string bytes = totals.tensors > 0 ? " " + size(totals.bytes) : "";
    return cat(part.is_top ? "top level" : escape(part.name), bytes, " (", counts, ")");
  }

  [[nodiscard]] std::string entries() const {
    Table table({"entry", "dtype", "shape", "size", "chunks"},
                {Align::left, Align::left, Align::left, Align::right, Align::left});
    for (const EntryId id : inspected_.order) {
      const Entry entry = checkpoint_.index.entry(id);
      if (entry.kind != EntryKind::tensor) continue;
      table.add({escape(entry.name), std::string(name(entry.dtype)), shape_text(entry.shape), size(byte_count(entry)),
                 chunks_text(checkpoint_.index, id)});
    }
    return table.text(show_.width);
  }

  /// The column of globals is there only when it is needed.
  [[nodiscard]] std::string objects() const {
    const bool has_globals = std::ranges::any_of(inspected_.objects, [](const ShownObject& object) {
      return !object.globals.empty() || !object.refused.empty();
    });
    Table table({"object", "size", "value", has_globals ? "globals" : ""},
                {Align::left, Align::right, Align::left, Align::left});
    for (const ShownObject& object : inspected_.objects) {
      table.add({escape(checkpoint_.index.entry(object.entry).name), object.size > 0 ? size(object.size) : "-",
                 object.error ? "(cannot be read)" : object.value, globals_text(object)});
    }
    return table.text(show_.width);
  }

  [[nodiscard]] std::string chunks() const {
    Table table({"entry", "chunk", "file", "offset", "length"},
                {Align::left, Align::left, Align::left, Align::right, Align::right});
    for (const EntryId id : inspected_.order) {
      const Entry entry = checkpoint_.index.entry(id);
      for (std::uint64_t i = 0; entry.kind == EntryKind::tensor && i < entry.chunk_count; ++i) {
        const Chunk chunk = checkpoint_.index.chunk(id, i);
        std::string file = "-", offset = "-", length = "-";
        if (chunk.is_stored) {
          file = escape(checkpoint_.file_set->relative_path(chunk.extent.file));
          offset = std::to_string(chunk.extent.offset);
          length = std::to_string(chunk.extent.length);
        }
        table.add({escape(entry.name), box_text(chunk.offsets, chunk.sizes), file, offset, length});
      }
    }
    return table.text(show_.width);
  }

  [[nodiscard]] std::string tree() const {
    const std::vector<TreeRow> rows = tree_totals(checkpoint_, inspected_.selected);
    if (rows.empty()) return {};
    Table table({"key", "tensors", "objects", "params", "size"},
                {Align::left, Align::right, Align::right, Align::right, Align::right});
    for (const TreeRow& row : rows) {
      table.add({std::string(2 * std::min(row.depth, kDeepest), ' ') + escape(row.name),
                 std::to_string(row.totals.tensors), std::to_string(row.totals.objects), params(row.totals.elements),
                 size(row.totals.bytes)});
    }
    return "\n" + table.text(show_.width);
  }

  [[nodiscard]] std::string files() const {
    const std::vector<FileUse> uses = file_uses(checkpoint_);
    const bool is_sharded = std::ranges::any_of(uses, &FileUse::is_counted);
    Table table({"file", "size", is_sharded ? "referenced" : "", is_sharded ? "unreferenced" : "", ""},
                {Align::left, Align::right, Align::right, Align::right, Align::left});
    for (const FileUse& use : uses) {
      table.add({escape(use.path),
                 use.state == FileUse::State::missing || use.state == FileUse::State::unreadable ? "-" : size(use.size),
                 use.is_counted ? size(use.referenced)
                 : is_sharded   ? "-"
                                : "",
                 use.is_counted ? size(use.unreferenced)
                 : is_sharded   ? "-"
                                : "",
                 remark(use)});
    }
    return table.text(show_.width);
  }

  [[nodiscard]] std::string remark(const FileUse& use) const {
    switch (use.state) {
      case FileUse::State::whole:
        return {};
      case FileUse::State::missing:
        return cat("missing, needs ", size(use.needed));
      case FileUse::State::cut:
        return cat("too short, needs ", size(use.needed));
      case FileUse::State::unreadable:
        return "cannot be read";
      case FileUse::State::unreferenced:
        return "not referenced";
    }
    return {};
  }

  const Inspected& inspected_;
  const Checkpoint::Data& checkpoint_;
  const Overview& overview_;
  const InspectShow& show_;
};

}  // namespace

std::string inspect_text(const Inspected& inspected, const InspectShow& show) {
  return InspectText(inspected, show).text();
}

}  // namespace fsdpckpt
