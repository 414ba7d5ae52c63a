// Python values as a pickle describes them, without Python: a global is only a name, a call only a node.
// Nodes live in one arena and refer to each other by index, so sharing and cycles cost nothing and freeing never
// recurses. Filled by the Machine; read by everybody else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace fsdpckpt::pickle {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffU;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  big_integer,  ///< beyond int64: text() is its two's complement, little-endian, at most 255 bytes
  real,
  text,  ///< UTF-8 as Python writes it (surrogates passed)
  bytes,
  byte_array,
  tuple,
  list,
  dict,
  set,
  frozen_set,
  global,      ///< module() and name(); never resolved
  object,      ///< made by REDUCE, NEWOBJ or NEWOBJ_EX; see Object
  persistent,  ///< BINPERSID; persistent_id() is its operand
  folded,      ///< what a Folder made of an object; folded() is the Folder's number
};

/// An object as the pickle makes it, never made here.
struct Object {
  enum class How : std::uint8_t { reduce, new_object, new_object_ex };
  How how = How::reduce;
  NodeId callable = kNoNode;       ///< reduce: the function; otherwise the class
  NodeId arguments = kNoNode;      ///< a tuple
  NodeId keywords = kNoNode;       ///< new_object_ex: a dict
  NodeId state = kNoNode;          ///< operand of BUILD, if any
  std::vector<NodeId> list_items;  ///< APPEND(S) on the object
  std::vector<NodeId> dict_items;  ///< SETITEM(S) on the object: key, value, key, value
};

class Arena;

/// Every accessor may be asked about any node: of a node of another kind, and of kNoNode, it gives nothing (0, empty,
/// kNoNode; kind() gives none), so that hostile input cannot reach what is not there.
class Values {
 public:
  Values();
  ~Values();
  Values(Values&&) noexcept;
  Values& operator=(Values&&) noexcept;

  /// Forgets everything and keeps the memory (up to 64 MiB) for the next pickle.
  void clear();

  [[nodiscard]] Kind kind(NodeId node) const;
  [[nodiscard]] bool boolean(NodeId node) const;
  [[nodiscard]] std::int64_t integer(NodeId node) const;
  [[nodiscard]] double real(NodeId node) const;
  /// Of text, bytes, byte_array and big_integer. Valid as long as the arena.
  [[nodiscard]] std::string_view text(NodeId node) const;
  /// Of tuple, list, set, frozen_set: the elements; of dict: key, value, key, value in insertion order.
  [[nodiscard]] std::span<const NodeId> items(NodeId node) const;
  [[nodiscard]] std::string_view module(NodeId node) const;
  [[nodiscard]] std::string_view name(NodeId node) const;
  [[nodiscard]] const Object& object(NodeId node) const;
  [[nodiscard]] NodeId persistent_id(NodeId node) const;
  [[nodiscard]] std::uint64_t folded(NodeId node) const;

  /// True for a global of exactly that name.
  [[nodiscard]] bool is_global(NodeId node, std::string_view module, std::string_view name) const;
  /// The value of the text key `key` in a dict, or kNoNode (also when `dict` is no dict). Of a key
  /// that occurs twice, the later value, as in Python.
  [[nodiscard]] NodeId find(NodeId dict, std::string_view key) const;
  /// True for the call bytes(), which is how protocol 2 spells b"". torch's weights_only loader refuses it.
  [[nodiscard]] bool is_empty_bytes_call(NodeId node) const;
  /// Bytes held by the arena.
  [[nodiscard]] std::uint64_t memory() const;

 private:
  friend class Machine;
  std::unique_ptr<Arena> arena_;
};

}  // namespace fsdpckpt::pickle
