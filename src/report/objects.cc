#include "report/objects.h"

#include <algorithm>

#include "base/text.h"
#include "formats/document.h"
#include "pickle/globals.h"
#include "report/entry_order.h"
#include "report/value_text.h"

namespace fsdpckpt {
namespace {

constexpr std::size_t kMostGlobals = 3;

std::vector<std::string> names_of(const std::vector<pickle::FoundGlobal>& globals) {
  std::vector<std::string> names;
  names.reserve(globals.size());
  for (const pickle::FoundGlobal& global : globals) names.push_back(cat(global.module, ".", global.name));
  return names;
}

void read(const DocumentPart& part, std::size_t limit, ShownObject& object) {
  object.value = value_text(part.document->values, part.node, limit);
  const pickle::GlobalScan scan = pickle::scan_globals(part.document->values, part.node);
  object.globals = names_of(scan.all);
  object.refused = names_of(scan.refused);
  object.needs_torch = scan.needs_torch;
}

}  // namespace

std::vector<ShownObject> read_objects(const Checkpoint::Data& checkpoint, const std::vector<EntryId>& entries,
                                      std::size_t limit) {
  std::vector<ShownObject> objects;
  for (const EntryId id : entries) {
    if (checkpoint.index.entry(id).kind != EntryKind::object) continue;
    ShownObject& object = objects.emplace_back();
    object.entry = id;
    object.size = object_size(checkpoint, id);
    try {
      read(read_object(checkpoint, id), limit, object);
    } catch (const Error& error) {
      object.error = error;
    }
  }
  return objects;
}

std::string globals_text(const ShownObject& object) {
  std::vector<std::string> names = object.refused;
  for (const std::string& global : object.globals) {
    if (std::ranges::find(object.refused, global) == object.refused.end()) names.push_back(global);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostGlobals; ++i) text += cat(i == 0 ? "" : ", ", escape(names[i]));
  if (names.size() > kMostGlobals) text += cat(", … ", names.size() - kMostGlobals, " more");
  if (object.refused.empty()) return text;
  if (names.size() == 1) return text + " (weights_only refuses it)";
  return cat(text, " (weights_only refuses ", object.refused.size(), " of ", names.size(), ")");
}

}  // namespace fsdpckpt
