#include <fsdpckpt/open.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/selection.h"
#include "model/coverage.h"
#include "report/error_report.h"
#include "report/inspect_json.h"
#include "report/inspect_text.h"

namespace fsdpckpt {
namespace {

InspectShow show_of(const InspectCommand& command) {
  InspectShow show{.exact_bytes = command.exact_bytes};
  if (command.show.empty()) return show;
  const auto has = [&](std::string_view part) { return std::ranges::find(command.show, part) != command.show.end(); };
  return {.entries = has("entries"),
          .objects = has("objects"),
          .chunks = has("chunks"),
          .files = has("files"),
          .exact_bytes = command.exact_bytes};
}

std::string keys_text(const Checkpoint::Data& data, const Overview& overview, bool raw) {
  std::string text;
  for (const EntryId id : overview.order) {
    const std::string_view name = data.index.entry(id).name;
    text += raw ? std::string(name) : escape(name);
    text += raw ? '\0' : '\n';
  }
  return text;
}

/// The first entry whose chunks do not tile it: it was shown, and could not be consolidated.
std::optional<Error> first_hole(const Checkpoint::Data& data, const Overview& overview) {
  for (const EntryId id : overview.order) {
    const Entry entry = data.index.entry(id);
    if (entry.kind != EntryKind::tensor) continue;
    const Coverage coverage = cover(data.index, id);
    if (coverage.problems.empty()) continue;
    const CoverageProblem& problem = coverage.problems.front();
    return Error(
        ErrorKind::input, describe(problem, entry),
        {.path = data.root, .entry = std::string(entry.name), .box = box_text(problem.offsets, problem.sizes)});
  }
  return std::nullopt;
}

nlohmann::ordered_json document_of(const Checkpoint::Data& data, const Overview& overview, const InspectShow& show,
                                   const std::optional<Error>& damage) {
  nlohmann::ordered_json document = inspect_json(data, overview, show);
  if (!damage) return document;
  document["ok"] = false;
  document["error"] = error_json(*damage);
  return document;
}

}  // namespace

int run_inspect(const GlobalOptions& global, const InspectCommand& command) {
  const Checkpoint checkpoint = open_checkpoint(command.source, command.files_in);
  const Checkpoint::Data& data = checkpoint.data();
  const Selection selection = select(data, {.keep = command.keep, .exclude = command.exclude});
  const Overview overview = overview_of(data, selection.entries);
  const InspectShow show = show_of(command);
  const std::optional<Error> damage = first_hole(data, overview);
  if (global.json)
    print_json(document_of(data, overview, show, damage));
  else
    print_answer(command.keys ? keys_text(data, overview, command.zero_terminated)
                              : inspect_text(data, overview, show));
  print_notes(global, data.notes);
  if (!damage) return kExitDone;
  std::fputs(error_text(*damage).c_str(), stderr);
  return exit_code(damage->kind());
}

}  // namespace fsdpckpt
