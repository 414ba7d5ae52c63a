#include "pickle/tree_text.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace fsdpckpt::pickle {
namespace {

std::string escaped(std::string_view raw) {
  std::string text = "'";
  for (const char character : raw) {
    const auto byte = static_cast<unsigned char>(character);
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", byte);
    const bool plain = byte >= 0x20 && byte < 0x7f && byte != '\'' && byte != '\\';
    text += plain ? std::string(1, character) : hex;
  }
  return text + "'";
}

std::string hex_of(std::string_view raw) {
  std::string text;
  for (const char character : raw) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(character));
    text += hex;
  }
  return text;
}

std::string real_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return std::isnan(value) ? "nan" : text;
}

std::string_view how_text(Object::How how) {
  constexpr std::string_view kNames[] = {"call(", "new(", "newex("};
  return kNames[static_cast<std::size_t>(how)];
}

}  // namespace

std::string TreeText::of(NodeId node) const {
  switch (values_.kind(node)) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return values_.boolean(node) ? "True" : "False";
    case Kind::integer:
      return std::to_string(values_.integer(node));
    case Kind::big_integer:
      return cat("big ", hex_of(values_.text(node)));
    case Kind::real:
      return real_text(values_.real(node));
    case Kind::text:
      return escaped(values_.text(node));
    case Kind::bytes:
      return cat("b", escaped(values_.text(node)));
    case Kind::byte_array:
      return cat("bytearray(b", escaped(values_.text(node)), ")");
    case Kind::tuple:
      return cat("(", list(values_.items(node)), ")");
    case Kind::list:
      return cat("[", list(values_.items(node)), "]");
    case Kind::set:
      return cat("set(", list(values_.items(node)), ")");
    case Kind::frozen_set:
      return cat("frozenset(", list(values_.items(node)), ")");
    case Kind::dict:
      return cat("{", pairs(values_.items(node)), "}");
    case Kind::global:
      return cat("<", values_.module(node), ".", values_.name(node), ">");
    case Kind::object:
      return of_object(node, values_.object(node).state);
    case Kind::persistent:
      return cat("pid(", of(values_.persistent_id(node)), ")");
    case Kind::folded:
      return folded ? folded(values_.folded(node)) : cat("folded ", values_.folded(node));
  }
  return "?";
}

std::string TreeText::of_object(NodeId node, NodeId state) const {
  if (values_.kind(node) != Kind::object) return cat(of(node), "+", of(state));
  const Object& object = values_.object(node);
  std::string text = cat(how_text(object.how), of(object.callable), ", ", of(object.arguments));
  if (object.keywords != kNoNode) text += cat(", ", of(object.keywords));
  text += ")";
  if (!object.list_items.empty()) text += cat("+[", list(object.list_items), "]");
  if (!object.dict_items.empty()) text += cat("+{", pairs(object.dict_items), "}");
  if (state != kNoNode) text += cat("+", of(state));
  return text;
}

std::string TreeText::list(std::span<const NodeId> items) const {
  std::string text;
  for (const NodeId item : items) text += cat(text.empty() ? "" : ", ", of(item));
  return text;
}

std::string TreeText::pairs(std::span<const NodeId> items) const {
  std::string text;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    if (hides && hides(values_, items[i])) continue;
    text += cat(text.empty() ? "" : ", ", of(items[i]), ": ", of(items[i + 1]));
  }
  return text;
}

Tree::Tree(std::string_view pickle, Folder* folder, Limits limits) : machine(limits) {
  root = machine.read(MemorySource(as_bytes(pickle)), values, folder);
}

}  // namespace fsdpckpt::pickle
