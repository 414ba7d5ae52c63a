#include "pickle/arena.h"

#include <fsdpckpt/error.h>

#include "base/text.h"

namespace fsdpckpt::pickle {
namespace {

/// Where the empty text lies, so that it needs no room.
char empty_text[1] = {};

void empty_object(Object& object) {
  object.list_items.clear();
  object.dict_items.clear();
}

std::uint64_t capacity_bytes(const std::vector<NodeId>& ids) { return ids.capacity() * sizeof(NodeId); }

}  // namespace

void Budget::exceeded() const {
  throw Error(ErrorKind::input, cat("the pickle needs more than ", human_size(limit_), " of memory"));
}

void Arena::grow_nodes() {
  if (nodes_.size() >= kNoNode / 2) throw Error(ErrorKind::input, "the pickle has too many values");
  budget.make_room(nodes_);
}

NodeId Arena::add_text(Kind kind, std::uint64_t length) {
  if (length > UINT32_MAX) throw Error(ErrorKind::input, cat("a value of ", length, " bytes is too long"));
  if (length == 0) return add(kind, 0, reinterpret_cast<std::uint64_t>(empty_text));
  const NodeId id = add(kind);
  // On failure the node stays behind as an empty one, so that it owns nothing when it is given back.
  nodes_[id].high = reinterpret_cast<std::uint64_t>(texts_.add(length, budget));
  nodes_[id].low = static_cast<std::uint32_t>(length);
  return id;
}

NodeId Arena::add_tuple(Kind kind, std::size_t count) {
  budget.make_room(children_, count);
  const NodeId id = add(kind, static_cast<std::uint32_t>(count), children_.size(), 1);
  children_.resize(children_.size() + count);
  return id;
}

NodeId Arena::add_list(Kind kind) {
  if (list_count_ == lists_.size()) {
    budget.make_room(lists_);
    lists_.emplace_back();
  }
  const NodeId id = add(kind, static_cast<std::uint32_t>(list_count_), 0, 1);
  ++list_count_;
  return id;
}

NodeId Arena::add_global(NodeId module, NodeId name) { return add(Kind::global, module, name); }

NodeId Arena::add_object(Object::How how, NodeId callable, NodeId arguments, NodeId keywords) {
  if (object_count_ == objects_.size()) {
    budget.make_room(objects_);
    objects_.emplace_back();
  }
  const NodeId id = add(Kind::object, static_cast<std::uint32_t>(object_count_), 0, 1);
  Object& object = objects_[object_count_++];
  object.how = how;
  object.callable = callable;
  object.arguments = arguments;
  object.keywords = keywords;
  object.state = kNoNode;
  return id;
}

void Arena::fold(NodeId id, std::uint64_t number) {
  Node& old = nodes_[id];
  if (old.kind == Kind::object && id + 1 == count()) release_objects(old.low);
  const std::uint32_t memo_slot = old.kind == Kind::folded ? old.low : 0;
  old = {Kind::folded, old.pinned, 0, memo_slot, number};
}

void Arena::cut(NodeId size) {
  while (nodes_.size() > size) release_newest();
}

void Arena::release_newest() {
  const Node& node = nodes_.back();
  switch (node.kind) {
    case Kind::text:
    case Kind::bytes:
    case Kind::byte_array:
    case Kind::big_integer:
      if (node.low > 0) texts_.release(text(node).data());
      break;
    case Kind::tuple:
    case Kind::frozen_set:
      children_.resize(node.high);
      break;
    case Kind::list:
    case Kind::dict:
    case Kind::set:
      release_lists(node.low);
      break;
    case Kind::object:
      release_objects(node.low);
      break;
    default:
      break;
  }
  nodes_.pop_back();
}

void Arena::release_lists(std::size_t count) {
  while (list_count_ > count) lists_[--list_count_].clear();
}

void Arena::release_objects(std::size_t count) {
  while (object_count_ > count) empty_object(objects_[--object_count_]);
}

void Arena::clear() {
  nodes_.clear();
  children_.clear();
  release_lists(0);
  release_objects(0);
  texts_.clear();
  if (budget.used() > kKeptMemory) free_all();
}

void Arena::free_all() {
  for (const auto& list : lists_) budget.give(capacity_bytes(list));
  for (const Object& object : objects_) {
    budget.give(capacity_bytes(object.list_items) + capacity_bytes(object.dict_items));
  }
  budget.give(nodes_.capacity() * sizeof(Node) + capacity_bytes(children_));
  budget.give(lists_.capacity() * sizeof lists_[0] + objects_.capacity() * sizeof(Object));
  nodes_ = std::vector<Node>();
  children_ = std::vector<NodeId>();
  lists_ = std::vector<std::vector<NodeId>>();
  objects_ = std::vector<Object>();
  texts_.free(budget);
}

}  // namespace fsdpckpt::pickle
