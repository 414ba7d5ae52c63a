// Writes pickles of protocol 2, the only one that every torch's weights_only loader takes. Opcodes one by one for
// code that lays out its own pickle, and TreeWriter for values that are carried over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pickle/value.h"

namespace fsdpckpt::pickle {

enum class Op : std::uint8_t;

class Writer {
 public:
  Writer();

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);                    ///< BININT1, BININT2, BININT, or LONG1 beyond 32 bits
  void big_integer(std::string_view twos_complement);  ///< LONG1; at most 255 bytes
  void real(double value);
  void text(std::string_view utf8);  ///< BINUNICODE; not memoised
  /// The text with a memo slot: the second time it is a BINGET. For keys and names that repeat.
  void shared_text(std::string_view utf8);
  void bytes(std::string_view raw);  ///< _codecs.encode(latin-1 text, 'latin1'), as protocol 2 does
  void empty_tuple();
  void empty_list();
  void empty_dict();
  void mark();
  void tuple_from_mark();
  void tuple(int count);  ///< of the top 1, 2 or 3 values
  void append();
  void appends();
  void set_item();
  void set_items();
  /// GLOBAL, memoised: the second time a BINGET. A dotted `name` (a nested class) becomes getattr calls.
  void global(std::string_view module, std::string_view name);
  void reduce();
  void new_object();
  void build();
  void persistent_id();
  /// Gives the value on top of the stack a memo slot and returns it.
  std::uint32_t put();
  void get(std::uint32_t slot);
  /// Ends the pickle (STOP) and returns it; the writer is empty afterwards.
  std::string finish();

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using SlotMap = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

  void op(Op code);
  void nested_global(std::string_view module, std::string_view outer, std::string_view inner);

  std::string out_;
  std::uint32_t next_slot_ = 0;
  SlotMap texts_;
  SlotMap globals_;
};

/// Writes subtrees of one Values losslessly: shared and mutable values keep their identity within the tree writer's
/// life; sets, byte arrays, bytes and newobj-ex are spelled as protocol 2 spells them. A cycle or nesting beyond 1,000
/// is Error(input); after an error the tree writer and its writer are of no more use. A folded node is Error(bug).
class TreeWriter {
 public:
  /// `write_persistent(id)` writes what stands for a persistent id (its operand node is given) onto the writer; without
  /// it the persistent id is carried over.
  TreeWriter(Writer& writer, const Values& values, std::function<void(NodeId)> write_persistent);
  void write(NodeId node);
  /// The texts that are items of `list` are written as `names` has them; `names` must outlive the writing.
  void rename_items(NodeId list, const std::map<std::string, std::string, std::less<>>& names) {
    renamed_[list] = &names;
  }

 private:
  bool write_scalar(NodeId node);
  std::uint32_t write_shared(NodeId node);
  void write_persistent(NodeId operand);
  void write_tuple(std::span<const NodeId> items);
  void write_list(NodeId list);
  void write_items(std::span<const NodeId> items);
  void write_pairs(std::span<const NodeId> pairs);
  void write_byte_array(NodeId node);
  void write_set(std::string_view type, NodeId node);
  void write_object(const Object& object);

  Writer& writer_;
  const Values& values_;
  std::function<void(NodeId)> write_persistent_;
  std::vector<std::uint32_t> slots_;  ///< per node: memo slot + 2; 0 not yet written; 1 being written
  int depth_ = 0;
  std::unordered_map<NodeId, const std::map<std::string, std::string, std::less<>>*> renamed_;  ///< by list
};

}  // namespace fsdpckpt::pickle
