#include "report/weights_only.h"

#include "base/text.h"
#include "pickle/globals.h"

namespace fsdpckpt {

std::vector<std::string> refused_globals(const DocumentPart& part) {
  std::vector<std::string> names;
  for (const pickle::FoundGlobal& global : pickle::scan_globals(part.document->values, part.node).refused)
    names.push_back(cat(global.module, ".", global.name));
  return names;
}

std::string refusal_text(const std::vector<std::string>& refused) {
  if (refused.empty()) return {};
  const std::string more = refused.size() > 1 ? cat(" and ", refused.size() - 1, " more") : "";
  return cat("refuses ", escape(refused.front()), more);
}

}  // namespace fsdpckpt
