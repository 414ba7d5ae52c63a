#include "base/exit_code.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "formats/selection.h"
#include "report/inspect_json.h"
#include "report/inspect_text.h"

#include <fsdpckpt/open.h>

#include <algorithm>

namespace fsdpckpt {
namespace {

InspectShow show_of(const InspectCommand& command) {
  InspectShow show{.exact_bytes = command.exact_bytes};
  if (command.show.empty()) return show;
  const auto has = [&](std::string_view part) { return std::ranges::find(command.show, part) != command.show.end(); };
  return {.entries = has("entries"), .objects = has("objects"), .chunks = has("chunks"), .files = has("files"), .exact_bytes = command.exact_bytes};
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

}  // namespace

int run_inspect(const GlobalOptions& global, const InspectCommand& command) {
  const Checkpoint checkpoint = open_checkpoint(command.source);
  const Checkpoint::Data& data = checkpoint.data();
  const Selection selection = select(data, {.keep = command.keep, .exclude = command.exclude});
  const Overview overview = overview_of(data, selection.entries);
  const InspectShow show = show_of(command);
  if (global.json) print_json(inspect_json(data, overview, show));
  else print_answer(command.keys ? keys_text(data, overview, command.zero_terminated) : inspect_text(data, overview, show));
  print_notes(global, data.notes);
  return kExitDone;
}

}  // namespace fsdpckpt
