#include "report/error_report.h"

#include "base/exit_code.h"
#include "base/text.h"
#include "report/json_text.h"

namespace fsdpckpt {

std::string error_text(const Error& error) {
  const Where& where = error.where();
  std::string in = escape(where.path);
  const auto add = [&](const std::string& part) { in += (in.empty() ? "" : ", ") + part; };
  if (where.offset) add(cat("byte offset ", *where.offset));
  if (!where.entry.empty()) add(cat("entry ", quote(where.entry), where.box.empty() ? "" : " ", where.box));
  if (!where.rank_text.empty()) add(escape(where.rank_text));
  std::string text = cat("fsdpckpt: error: ", error.what(), "\n");
  if (!in.empty()) text += cat("  in:  ", in, "\n");
  if (!error.hint().empty()) text += cat("  try: ", error.hint(), "\n");
  return text;
}

nlohmann::ordered_json error_json(const Error& error) {
  const Where& where = error.where();
  nlohmann::ordered_json json = {
      {"kind", kind_name(error.kind())}, {"exit_code", exit_code(error.kind())}, {"message", json_text(error.what())}};
  if (!where.path.empty()) add_path(json, "path", where.path);
  if (where.offset) json["offset"] = *where.offset;
  if (!where.entry.empty()) json["entry"] = json_text(where.entry);
  if (!where.box.empty()) json["box"] = where.box;
  if (where.rank) json["rank"] = *where.rank;
  if (!error.hint().empty()) json["hint"] = json_text(error.hint());
  return json;
}

}  // namespace fsdpckpt
