// pack_error() and unpack_error() of control.h: one JSON object, whose dump has no newline.
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/exit_code.h"
#include "base/text.h"
#include "dist/control.h"

namespace fsdpckpt {
namespace {

using Json = nlohmann::json;

constexpr std::array kKinds = {ErrorKind::usage, ErrorKind::input,       ErrorKind::io,         ErrorKind::refused,
                               ErrorKind::ranks, ErrorKind::interrupted, ErrorKind::terminated, ErrorKind::bug};

std::optional<ErrorKind> kind_of(std::string_view name) {
  for (const ErrorKind kind : kKinds) {
    if (kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

template <class T>
std::optional<T> number_in(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json.at(key).get<T>()) : std::nullopt;
}

Where place_in(const Json& json) {
  return {.path = json.value("path", ""),
          .offset = number_in<std::uint64_t>(json, "offset"),
          .entry = json.value("entry", ""),
          .box = json.value("box", ""),
          .rank = number_in<int>(json, "rank"),
          .rank_text = json.value("rank_text", "")};
}

Error not_understood(std::string_view text) {
  return Error(ErrorKind::ranks, cat("a rank failed with an error that cannot be read: ", quote(text)));
}

}  // namespace

std::string pack_error(const Error& error) {
  const Where& where = error.where();
  Json json = {{"kind", kind_name(error.kind())},
               {"message", error.what()},
               {"path", where.path},
               {"entry", where.entry},
               {"box", where.box},
               {"hint", error.hint()},
               {"rank_text", where.rank_text}};
  if (where.offset) json["offset"] = *where.offset;
  if (where.rank) json["rank"] = *where.rank;
  // Names in files are bytes: what is no UTF-8 arrives as U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error unpack_error(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    const std::optional<ErrorKind> kind = kind_of(json.at("kind").get<std::string>());
    if (!kind) return not_understood(text);
    return Error(*kind, json.at("message").get<std::string>(), place_in(json), json.value("hint", ""));
  } catch (const Json::exception&) {
    return not_understood(text);
  }
}

}  // namespace fsdpckpt
