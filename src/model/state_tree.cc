#include "model/state_tree.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace fsdpckpt {
namespace {

std::string path_text(std::span<const Key> path) {
  std::string text;
  for (const Key& key : path) {
    if (!text.empty()) text += '.';
    text += key.is_number ? std::to_string(key.number) : std::string(key.text);
  }
  return text;
}

/// The number that Python's str() would spell exactly like `text`, or nothing.
std::optional<std::int64_t> exact_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(number) != text) return std::nullopt;
  return number;
}

}  // namespace

StateTree::StateTree() { new_node(Kind::dict); }

StateTree::Node StateTree::new_node(Kind kind) {
  nodes_.push_back({.kind = kind});
  return static_cast<Node>(nodes_.size() - 1);
}

std::string_view StateTree::keep(std::string_view key) { return keys_.emplace_back(key); }

StateTree::Node StateTree::dict_child(Node dict, std::string_view key) {
  if (const auto found = places_.find({dict, key}); found != places_.end()) return found->second;
  const std::string_view kept = keep(key);
  const Node child = new_node(Kind::nothing);
  nodes_[dict].children.push_back({.key = {.text = kept}, .node = child});
  places_.emplace(Place{dict, kept}, child);
  return child;
}

StateTree::Node StateTree::list_child(Node list, std::int64_t position) {
  if (position < 0 || position >= kMaxListLength) {
    throw Error(ErrorKind::input, cat("list position ", position, " is out of range"));
  }
  const auto length = static_cast<std::int64_t>(nodes_[list].children.size());
  filled_ += std::max<std::int64_t>(0, position - length);
  if (filled_ > kMaxFilled) throw Error(ErrorKind::input, cat("lists have more than ", kMaxFilled, " empty places"));
  while (static_cast<std::int64_t>(nodes_[list].children.size()) <= position) {
    const auto next = static_cast<std::int64_t>(nodes_[list].children.size());
    const Node child = new_node(Kind::nothing);
    nodes_[list].children.push_back({.key = {.number = next, .is_number = true}, .node = child});
  }
  return nodes_[list].children[static_cast<std::size_t>(position)].node;
}

void StateTree::become(Node node, Kind kind, std::span<const Key> path, std::size_t depth) {
  Kind& now = nodes_[node].kind;
  const bool is_free = now == Kind::nothing || (now == kind && kind != Kind::entry);
  now = kind;
  if (is_free) return;
  throw Error(ErrorKind::input, cat("two entries want the same place ", quote(path_text(path.first(depth)))),
              {.entry = path_text(path)});
}

void StateTree::insert(std::span<const Key> path, EntryId entry) {
  if (path.empty()) throw Error(ErrorKind::input, "an entry has an empty path");
  if (path.size() > kMaxDepth)
    throw Error(ErrorKind::input, cat("a path has ", path.size(), " elements, more than ", kMaxDepth));
  Node node = kRoot;
  for (std::size_t i = 0; i < path.size(); ++i) {
    become(node, path[i].is_number ? Kind::list : Kind::dict, path, i);
    node = path[i].is_number ? list_child(node, path[i].number) : dict_child(node, path[i].text);
  }
  become(node, Kind::entry, path, path.size());
  nodes_[node].entry = entry;
}

void StateTree::insert_empty_dict(Node parent, std::string_view key, std::string_view before) {
  const std::string_view kept = keep(key);
  const Node child = new_node(Kind::dict);
  auto& children = nodes_[parent].children;
  const auto place = std::ranges::find(children, before, [](const Child& c) { return c.key.text; });
  children.insert(place, {.key = {.text = kept}, .node = child});
  places_.emplace(Place{parent, kept}, child);
}

void StateTree::rename_key(Node parent, std::size_t index, std::string_view key) {
  Child& child = nodes_[parent].children[index];
  const auto old = places_.find({parent, child.key.text});
  if (old != places_.end() && old->second == child.node) places_.erase(old);  // another may have got it since
  child.key = {.text = keep(key)};
  places_.insert_or_assign(Place{parent, child.key.text}, child.node);
}

void StateTree::number_keys(Node dict) {
  for (Child& child : nodes_[dict].children) {
    if (const auto number = exact_number(child.key.text))
      child.key = {.text = child.key.text, .number = *number, .is_number = true};
  }
}

StateTree::Node StateTree::child(Node dict, std::string_view key) const {
  const auto found = places_.find({dict, key});
  return found == places_.end() ? kNowhere : found->second;
}

}  // namespace fsdpckpt
