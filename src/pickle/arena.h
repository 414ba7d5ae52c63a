// Where the nodes of Values live. Private to src/pickle: the Machine fills it, Values reads it.
//
// Nodes are made in order, and what a node owns (the children of a tuple, a text, a list, an object) is made with it.
// So the arena can be cut back to any earlier node by giving back the newest node again and again.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pickle/budget.h"
#include "pickle/text_blocks.h"
#include "pickle/value.h"

namespace fsdpckpt::pickle {

/// What `low` and `high` mean, by kind: integer, boolean, real: the value in `high`. text, bytes, byte_array,
/// big_integer: length and pointer. tuple, frozen_set: number and place of the children. list, dict, set: the list in
/// `low`. object: its place in `low`. global: the text nodes of module and name. persistent: the operand in `low`.
/// folded: in `high` the folder's number, in `low` one more than the memo slot that holds the number, or 0.
struct Node {
  Kind kind = Kind::none;
  bool pinned = false;      ///< reachable in another way than from the stack: see Run::pin
  std::uint16_t depth = 0;  ///< nesting from this node on: 0 of plain values, 1 of a container of such
  std::uint32_t low = 0;
  std::uint64_t high = 0;
};
static_assert(sizeof(Node) == 16);

class Arena {
 public:
  /// What clear() keeps for the next pickle at most.
  static constexpr std::uint64_t kKeptMemory = 64ULL << 20;

  Budget budget;

  [[nodiscard]] NodeId count() const { return static_cast<NodeId>(nodes_.size()); }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  Node& node(NodeId id) { return nodes_[id]; }

  NodeId add(Kind kind, std::uint32_t low = 0, std::uint64_t high = 0, std::uint16_t depth = 0) {
    if (nodes_.size() == nodes_.capacity()) grow_nodes();
    nodes_.push_back({kind, false, depth, low, high});
    return count() - 1;
  }
  /// The caller fills text_bytes(node).
  NodeId add_text(Kind kind, std::uint64_t length);
  /// The caller fills tuple_items(node).
  NodeId add_tuple(Kind kind, std::size_t count);
  NodeId add_list(Kind kind);
  NodeId add_global(NodeId module, NodeId name);
  NodeId add_object(Object::How how, NodeId callable, NodeId arguments, NodeId keywords = kNoNode);

  /// Makes `node` a folded one under the same number; it gives back the object it was when it is the newest node.
  void fold(NodeId node, std::uint64_t number);
  /// Gives back all nodes from number `size` on.
  void cut(NodeId size);
  void clear();

  [[nodiscard]] std::string_view text(const Node& node) const {
    return {reinterpret_cast<const char*>(node.high), node.low};
  }
  char* text_bytes(NodeId id) { return reinterpret_cast<char*>(nodes_[id].high); }
  NodeId* tuple_items(NodeId id) { return children_.data() + nodes_[id].high; }
  [[nodiscard]] const NodeId* tuple_items(const Node& node) const { return children_.data() + node.high; }
  std::vector<NodeId>& list(const Node& node) { return lists_[node.low]; }
  [[nodiscard]] const std::vector<NodeId>& list(const Node& node) const { return lists_[node.low]; }
  Object& object(const Node& node) { return objects_[node.low]; }
  [[nodiscard]] const Object& object(const Node& node) const { return objects_[node.low]; }

 private:
  void grow_nodes();
  void release_newest();
  void release_lists(std::size_t count);
  void release_objects(std::size_t count);
  void free_all();

  std::vector<Node> nodes_;
  std::vector<NodeId> children_;
  std::vector<std::vector<NodeId>> lists_;  ///< those from list_count_ on wait to be used again
  std::size_t list_count_ = 0;
  std::vector<Object> objects_;  ///< as lists_
  std::size_t object_count_ = 0;
  TextBlocks texts_;
};

}  // namespace fsdpckpt::pickle
