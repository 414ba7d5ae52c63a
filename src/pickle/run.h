// One run of the pickle machine over one pickle. Private to src/pickle.
//
// run.cc has the loop, the opcodes that make plain values and the memo; run_containers.cc those that fill containers;
// run_objects.cc those that call, build and fold; run_handlers.cc maps opcodes to them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/byte_reader.h"
#include "pickle/arena.h"
#include "pickle/arguments.h"
#include "pickle/machine.h"
#include "pickle/memo.h"
#include "pickle/opcode.h"

namespace fsdpckpt::pickle {

/// A value on the machine's stack.
struct Slot {
  NodeId node;
  NodeId floor;  ///< number of nodes before the value was begun: from there on they are its parts, or were pinned since
  std::uint64_t at;  ///< offset of the opcode that pushed it
};

/// What a machine keeps from pickle to pickle, so that small ones cost no allocation.
struct Scratch {
  std::vector<Slot> stack;
  std::vector<std::size_t> marks;  ///< heights of the stack
  Memo memo;
  Liveness liveness;
  std::string module;
  std::string name;
  std::vector<std::byte> small;  ///< a whole small source

  void clear();
  [[nodiscard]] std::uint64_t memory() const;
};

class Run {
 public:
  Run(ByteReader& bytes, const Values& values, Arena& arena, Scratch& scratch, const Limits& limits, Folder* folder);
  /// Reads up to and including STOP and returns the root. Errors have the byte offset.
  NodeId run();

 private:
  using Handler = void (*)(Run&);
  using Handlers = std::array<Handler, 256>;

  // run_handlers.cc
  static const Handlers kHandlers;  ///< by opcode; null: unsupported
  static constexpr void add_value_handlers(Handlers& table);
  static constexpr void add_container_handlers(Handlers& table);
  static constexpr void add_object_handlers(Handlers& table);

  // run.cc
  void loop();
  [[noreturn]] void fail(std::string what) const;
  [[nodiscard]] std::string entry() const;
  template <class T>
  T number() {
    return read_number<T>(bytes_);
  }
  template <class T>
  std::uint64_t length() {
    return read_length<T>(bytes_);
  }
  NodeId root();
  void push(NodeId node, NodeId floor) {
    budget_.make_room(stack_);
    stack_.push_back({node, floor, op_offset_});
  }
  void push_new(NodeId node) { push(node, node); }
  void push_integer(std::int64_t value) { push_new(arena_.add(Kind::integer, 0, static_cast<std::uint64_t>(value))); }
  void push_real();
  void push_long(std::uint64_t length);
  void push_text(std::uint64_t length);
  void push_bytes(Kind kind, std::uint64_t length) { push_new(read_text(kind, length)); }
  NodeId read_text(Kind kind, std::uint64_t length);
  NodeId add_name(const std::string& name);
  void push_global();
  void put(std::uint32_t slot);
  void get(std::uint32_t slot);

  /// The topmost `count` values; fails when fewer lie above the last mark.
  std::span<const Slot> last(std::size_t count) {
    need(count);
    return std::span(stack_).last(count);
  }
  void need(std::size_t count) const {
    if (stack_.size() - base() < count) fail_underflow(count);
  }
  [[noreturn]] void fail_underflow(std::size_t count) const;
  [[nodiscard]] std::size_t base() const { return marks_.empty() ? 0 : marks_.back(); }
  [[nodiscard]] Slot& top() { return stack_.back(); }
  NodeId pop();

  // run_containers.cc
  void push_mark();
  /// Takes the last mark off and returns the values above it, which stay on the stack until drop().
  std::span<const Slot> above_mark();
  void drop(std::span<const Slot> values);
  void push_tuple(Kind kind, std::span<const Slot> values);
  void append(std::span<const Slot> values);
  void add_items(std::span<const Slot> values);
  void set_items(std::span<const Slot> values);
  std::span<const Slot> offer_items(std::span<const Slot> values);
  void insert(NodeId container, std::vector<NodeId>& items, std::span<const Slot> values);
  [[nodiscard]] NodeId container_below(std::span<const Slot> values) const;
  void adopt(NodeId parent, NodeId child);

  // run_objects.cc
  void push_stack_global();
  void push_persistent();
  void reduce();
  void new_object();
  void new_object_ex();
  void build();
  void check_call(NodeId callable, NodeId arguments) const;
  void replace_by_object(Object::How how, NodeId callable, NodeId arguments, NodeId keywords);
  void fold_top(std::uint64_t number);
  void cut(NodeId floor);
  void pin(NodeId node);
  void keep_all_if_pinned(NodeId node);
  void dup();
  void drop_checked(std::span<const Slot> values);
  void check_droppable(NodeId node) const;

  ByteReader& bytes_;
  const Values& values_;  ///< the view of arena_ that the folder gets
  Arena& arena_;
  Budget& budget_;
  std::vector<Slot>& stack_;
  std::vector<std::size_t>& marks_;
  Memo& memo_;
  Scratch& scratch_;
  const Limits& limits_;
  Folder* folder_;
  std::uint64_t op_offset_ = 0;
  NodeId pinned_end_ = 0;  ///< nodes before this number are never given back
};

/// "a list", "text": for messages.
std::string_view describe(Kind kind);

}  // namespace fsdpckpt::pickle
