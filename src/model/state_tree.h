// The nesting of a state dict: dicts and lists whose leaves are entries, in order. Built from DCP's path tuples
// (torch/distributed/checkpoint/_nested_dict.py, set_element) or from a pickled tree.
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fsdpckpt {

/// A dict key (text, or a number after the repair of int-keyed optimizers) or a list position.
struct Key {
  std::string_view text;
  std::int64_t number = 0;
  bool is_number = false;
};

class StateTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNowhere = 0xffffffffU;
  enum class Kind : std::uint8_t {
    dict,
    list,
    entry,
    nothing
  };  ///< nothing: a list position that no path names (None)

  struct Child {
    Key key;
    Node node;
  };

  StateTree();

  /// Puts `entry` at `path`. An element followed by text is a dict, by a number a list, as torch rebuilds it; lists
  /// are filled up with nothing. Throws Error(input) when a leaf and a container, or two leaves, want one place, when a
  /// list position is beyond `kMaxListLength`, a path longer than `kMaxDepth`, or more than `kMaxFilled` places were
  /// filled up.
  void insert(std::span<const Key> path, EntryId entry);
  /// Puts an empty dict under `key` in front of the child `before` of dict `parent`.
  void insert_empty_dict(Node parent, std::string_view key, std::string_view before);
  /// Gives child `index` of dict `parent` another key, which none of its other children may have in the end.
  void rename_key(Node parent, std::size_t index, std::string_view key);
  /// Turns the keys of a dict that are decimal numbers into numbers.
  void number_keys(Node dict);

  [[nodiscard]] Kind kind(Node node) const { return nodes_[node].kind; }
  [[nodiscard]] EntryId entry(Node node) const { return nodes_[node].entry; }
  [[nodiscard]] const std::vector<Child>& children(Node node) const { return nodes_[node].children; }
  /// The child of a dict under a text key, or kNowhere.
  [[nodiscard]] Node child(Node dict, std::string_view key) const;
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }

  static constexpr std::int64_t kMaxListLength = 1 << 24;
  static constexpr std::size_t kMaxDepth = 1000;       ///< as pickles may nest; walks of the tree recurse
  static constexpr std::int64_t kMaxFilled = 1 << 20;  ///< a path of a few bytes must not cost gigabytes

 private:
  struct NodeRecord {
    Kind kind = Kind::nothing;
    EntryId entry = 0;
    std::vector<Child> children;
  };
  struct Place {
    Node parent;
    std::string_view key;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return std::hash<std::string_view>()(place.key) ^ (place.parent * 0x9e3779b97f4a7c15ULL);
    }
  };
  Node new_node(Kind kind);
  Node dict_child(Node dict, std::string_view key);
  Node list_child(Node list, std::int64_t position);
  void become(Node node, Kind kind, std::span<const Key> path, std::size_t depth);
  std::string_view keep(std::string_view key);

  std::deque<NodeRecord> nodes_;
  std::deque<std::string> keys_;
  std::unordered_map<Place, Node, PlaceHash> places_;
  std::int64_t filled_ = 0;  ///< list places made because of later ones
};

}  // namespace fsdpckpt
