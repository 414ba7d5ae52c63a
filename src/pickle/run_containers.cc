#include <algorithm>

#include "base/text.h"
#include "pickle/run.h"

namespace fsdpckpt::pickle {

void Run::push_mark() {
  if (marks_.size() >= limits_.depth) fail(cat("nested deeper than ", limits_.depth));
  budget_.make_room(marks_);
  marks_.push_back(stack_.size());
}

std::span<const Slot> Run::above_mark() {
  if (marks_.empty()) fail("a mark is missing");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return std::span(stack_).subspan(mark);
}

void Run::drop(std::span<const Slot> values) { stack_.resize(stack_.size() - values.size()); }

void Run::push_tuple(Kind kind, std::span<const Slot> values) {
  const NodeId floor = values.empty() ? arena_.count() : values.front().floor;
  const NodeId tuple = arena_.add_tuple(kind, values.size());
  NodeId* items = arena_.tuple_items(tuple);
  for (const Slot& value : values) {
    *items++ = value.node;
    adopt(tuple, value.node);
  }
  drop(values);
  push(tuple, floor);
}

NodeId Run::container_below(std::span<const Slot> values) const {
  const std::size_t height = stack_.size() - values.size();
  if (height <= base()) fail("the stack has no container to fill");
  return stack_[height - 1].node;
}

void Run::append(std::span<const Slot> values) {
  const NodeId id = container_below(values);
  const Node& container = arena_.node(id);
  if (container.kind != Kind::list && container.kind != Kind::object) {
    fail(cat("items are appended to ", describe(container.kind)));
  }
  insert(id, container.kind == Kind::list ? arena_.list(container) : arena_.object(container).list_items, values);
}

void Run::add_items(std::span<const Slot> values) {
  const NodeId id = container_below(values);
  const Node& container = arena_.node(id);
  if (container.kind != Kind::set) fail(cat("items are added to ", describe(container.kind), ", expected a set"));
  insert(id, arena_.list(container), values);
}

void Run::set_items(std::span<const Slot> values) {
  const NodeId id = container_below(values);
  const Node& container = arena_.node(id);
  if (container.kind != Kind::dict && container.kind != Kind::object) {
    fail(cat("items are set on ", describe(container.kind)));
  }
  if (values.size() % 2 != 0) fail("a key has no value");
  if (container.kind == Kind::object) return insert(id, arena_.object(container).dict_items, values);
  insert(id, arena_.list(container), folder_ != nullptr ? offer_items(values) : values);
}

/// Offers all pairs to the folder, closes the gaps of those it takes and returns the others. When it took all, their
/// nodes are given back.
std::span<const Slot> Run::offer_items(std::span<const Slot> values) {
  if (values.empty()) return values;
  const NodeId floor = values.front().floor;
  const std::size_t begin = stack_.size() - values.size();
  std::size_t kept = begin;
  for (std::size_t i = begin; i < stack_.size(); i += 2) {
    if (folder_->take_item(values_, {stack_[i].node, stack_[i].at}, stack_[i + 1].node)) continue;
    stack_[kept++] = stack_[i];
    stack_[kept++] = stack_[i + 1];
  }
  stack_.resize(kept);
  if (kept == begin) cut(floor);
  return std::span(stack_).subspan(begin);
}

void Run::insert(NodeId container, std::vector<NodeId>& items, std::span<const Slot> values) {
  budget_.make_room(items, values.size());
  for (const Slot& value : values) {
    items.push_back(value.node);
    adopt(container, value.node);
  }
  drop(values);
  keep_all_if_pinned(container);
}

void Run::adopt(NodeId parent, NodeId child) {
  const std::uint32_t depth = arena_.node(child).depth + 1U;
  if (depth > limits_.depth) fail(cat("nested deeper than ", limits_.depth));
  std::uint16_t& known = arena_.node(parent).depth;
  known = std::max(known, static_cast<std::uint16_t>(std::min(depth, 0xffffU)));
}

}  // namespace fsdpckpt::pickle
