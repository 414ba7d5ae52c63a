#include <fsdpckpt/open.h>

#include <cstdio>
#include <optional>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/selection.h"
#include "model/coverage.h"
#include "report/entry_order.h"
#include "report/error_report.h"
#include "report/inspect_json.h"
#include "report/inspect_text.h"

namespace fsdpckpt {
namespace {

constexpr std::size_t kShortValue = 60, kLongValue = 200;  ///< bytes of an object's value: text, JSON
constexpr std::size_t kMostNamed = 3;

/// Without --show, text has tables of entries and objects, and JSON has everything.
InspectShow show_of(const GlobalOptions& global, const InspectCommand& command) {
  const auto has = [&](ShowPart part) { return command.show.contains(part); };
  InspectShow show{.entries = has(ShowPart::entries),
                   .objects = has(ShowPart::objects),
                   .chunks = has(ShowPart::chunks),
                   .files = has(ShowPart::files),
                   .tree = has(ShowPart::tree)};
  if (command.show.empty()) {
    show.entries = show.objects = true;
    show.chunks = global.json;
  }
  show.exact_bytes = command.exact_bytes;
  show.width = global.json || command.keys ? 0 : terminal_width();
  return show;
}

std::string keys_text(const Checkpoint::Data& data, const std::vector<EntryId>& order, bool raw) {
  std::string text;
  for (const EntryId id : order) {
    const std::string_view name = data.index.entry(id).name;
    text += raw ? std::string(name) : escape(name);
    text += raw ? '\0' : '\n';
  }
  return text;
}

/// Tensors whose chunks leave a gap or overlap are shown like any other, with a note; a chunk outside its tensor is
/// damage.
class Coverages {
 public:
  Coverages(Checkpoint::Data& data, const std::vector<EntryId>& entries) : data_(data) {
    for (const EntryId id : entries) {
      if (data.index.entry(id).kind == EntryKind::tensor) look_at(id);
    }
    if (problems_.empty()) return;
    data.notes.push_back(cat(plural(problems_.size(), "tensor"), problems_.size() == 1 ? " is" : " are",
                             " not stored exactly once: ", list_of(problems_, kMostNamed)));
  }

 private:
  void look_at(EntryId id) {
    const Entry entry = data_.index.entry(id);
    const std::vector<CoverageProblem> problems = cover(data_.index, id).problems;
    if (problems.empty()) return;
    const CoverageProblem& problem = problems.front();
    const std::string what = describe(problem, entry);
    if (problem.kind == CoverageProblem::Kind::outside) return add_damage(entry, problem, what);
    problems_.push_back(cat(quote(entry.name), " (", what, ")"));
  }

  void add_damage(const Entry& entry, const CoverageProblem& problem, const std::string& what) {
    if (has_damage_) return;
    has_damage_ = true;
    data_.damages.emplace_back(
        ErrorKind::input, what,
        Where{.path = data_.root, .entry = std::string(entry.name), .box = box_text(problem.offsets, problem.sizes)});
  }

  Checkpoint::Data& data_;
  std::vector<std::string> problems_;
  bool has_damage_ = false;
};

/// The first object that cannot be read, unless it is clear already what is wrong.
void add_unreadable(const std::vector<ShownObject>& objects, Checkpoint::Data& data) {
  if (!data.damages.empty()) return;
  for (const ShownObject& object : objects) {
    if (!object.error) continue;
    data.damages.push_back(*object.error);
    return;
  }
}

void print(const GlobalOptions& global, const InspectCommand& command, const Inspected& inspected,
           const InspectShow& show) {
  const std::vector<Error>& damages = inspected.checkpoint.damages;
  if (global.json) {
    write_inspect_json(inspected, show, damages.empty() ? std::nullopt : std::optional(damages.front()),
                       [](std::string_view piece) { print_answer(piece); });
  } else {
    print_answer(command.keys ? keys_text(inspected.checkpoint, inspected.order, command.zero_terminated)
                              : inspect_text(inspected, show));
  }
  print_notes(global, inspected.checkpoint.notes);
}

}  // namespace

int run_inspect(const GlobalOptions& global, const InspectCommand& command) {
  const InspectShow show = show_of(global, command);
  Checkpoint checkpoint = open_checkpoint(command.source, command.files_in);
  Checkpoint::Data& data = checkpoint.data();
  const Selection selection = select(data, {.keep = command.keep, .exclude = command.exclude});
  const Overview overview = overview_of(data, selection.entries);
  const Coverages coverages(data, overview.order);
  std::vector<EntryId> order = overview.order;
  sort_entries(data, command.sort, order);
  std::vector<ShownObject> objects;
  if (show.objects && !command.keys) objects = read_objects(data, order, global.json ? kLongValue : kShortValue);
  add_unreadable(objects, data);
  data.file_set->check_unchanged();
  print(global, command, {data, selection.entries, overview, order, objects}, show);
  if (data.damages.empty()) return kExitDone;
  std::fputs(error_text(data.damages.front()).c_str(), stderr);
  return exit_code(data.damages.front().kind());
}

}  // namespace fsdpckpt
