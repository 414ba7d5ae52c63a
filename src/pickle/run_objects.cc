#include <algorithm>

#include "base/text.h"
#include "pickle/run.h"

namespace fsdpckpt::pickle {

void Run::push_stack_global() {
  need(2);
  const NodeId name = pop();
  const auto [module, floor, at] = top();
  if (values_.kind(module) != Kind::text || values_.kind(name) != Kind::text) {
    fail("module and name of a global are not texts");
  }
  stack_.pop_back();
  if (folder_ != nullptr) folder_->check_global(values_.text(module), values_.text(name));
  push(arena_.add_global(module, name), floor);
}

void Run::push_persistent() {
  need(1);
  Slot& operand = top();
  const NodeId node = arena_.add(Kind::persistent, operand.node);
  adopt(node, operand.node);
  operand.node = node;
}

void Run::reduce() {
  need(2);
  const NodeId arguments = pop();
  const auto [callable, floor, at] = top();
  check_call(callable, arguments);
  if (folder_ != nullptr) {
    if (const auto number = folder_->fold_reduce(values_, callable, arguments)) {
      cut(floor);
      top().node = arena_.add(Kind::folded, 0, *number);
      return;
    }
  }
  replace_by_object(Object::How::reduce, callable, arguments, kNoNode);
}

void Run::new_object() {
  need(2);
  const NodeId arguments = pop();
  const NodeId type = top().node;
  check_call(type, arguments);
  replace_by_object(Object::How::new_object, type, arguments, kNoNode);
}

void Run::new_object_ex() {
  need(3);
  const NodeId keywords = pop();
  const NodeId arguments = pop();
  const NodeId type = top().node;
  check_call(type, arguments);
  const Kind given = arena_.node(keywords).kind;
  if (given != Kind::dict) fail(cat("keywords of a call are ", describe(given), ", expected a dict"));
  replace_by_object(Object::How::new_object_ex, type, arguments, keywords);
}

void Run::check_call(NodeId callable, NodeId arguments) const {
  const Kind called = arena_.node(callable).kind;
  const bool is_callable = called == Kind::global || called == Kind::object || called == Kind::folded;
  if (!is_callable) fail(cat("a call of ", describe(called)));
  const Kind given = arena_.node(arguments).kind;
  if (given != Kind::tuple) fail(cat("arguments of a call are ", describe(given), ", expected a tuple"));
}

void Run::replace_by_object(Object::How how, NodeId callable, NodeId arguments, NodeId keywords) {
  const NodeId node = arena_.add_object(how, callable, arguments, keywords);
  adopt(node, callable);
  adopt(node, arguments);
  if (keywords != kNoNode) adopt(node, keywords);
  top().node = node;
}

void Run::build() {
  need(2);
  const NodeId state = pop();
  const NodeId id = top().node;
  const Kind kind = arena_.node(id).kind;
  if (kind != Kind::object && kind != Kind::folded) fail(cat("state is set on ", describe(kind)));
  if (kind == Kind::object && values_.object(id).state != kNoNode) fail("state is set twice on one object");
  if (folder_ != nullptr) {
    if (const auto number = folder_->fold_build(values_, id, state)) return fold_top(*number);
  }
  if (kind == Kind::folded) fail("state is set on a value that takes none");
  arena_.object(arena_.node(id)).state = state;
  adopt(id, state);
  keep_all_if_pinned(id);
}

/// Makes the object on top of the stack, or a folded value, a folded value with a number, and gives back its parts.
void Run::fold_top(std::uint64_t number) {
  const auto [id, floor, at] = top();
  const Node& node = arena_.node(id);
  const std::uint32_t memo_slot = node.kind == Kind::folded ? node.low : 0;
  if (memo_slot != 0) memo_.put(memo_slot - 1, {number, Memo::kFolded}, budget_);
  if (node.pinned) {  // others know it by its number: it stays where it is
    cut(std::max(floor, id + 1));
    return arena_.fold(id, number);
  }
  cut(floor);
  top().node = arena_.add(Kind::folded, memo_slot, number);
}

/// Gives back the nodes from `floor` on, but for those that were pinned and all before them.
void Run::cut(NodeId floor) { arena_.cut(std::max(floor, pinned_end_)); }

/// `node` can be reached from elsewhere than its place on the stack: from the memo, or twice from the stack. It and
/// everything it has now must stay; what it is given later must stay too, for which keep_all_if_pinned() asks.
/// Whatever a later insertion brings is finished, or pinned by itself, so the mark need not be passed on to parts.
void Run::pin(NodeId node) {
  arena_.node(node).pinned = true;
  pinned_end_ = arena_.count();
}

void Run::keep_all_if_pinned(NodeId node) {
  if (arena_.node(node).pinned) pinned_end_ = arena_.count();
}

void Run::dup() {
  need(1);
  const NodeId node = top().node;
  pin(node);
  push(node, arena_.count());
}

void Run::drop_checked(std::span<const Slot> values) {
  for (const Slot& value : values) check_droppable(value.node);
  drop(values);
}

/// A call whose result nobody keeps was made for its effect. (Python's pickler drops what the memo holds, in recursive
/// tuples.)
void Run::check_droppable(NodeId id) const {
  const Node& node = arena_.node(id);
  if (node.kind != Kind::object || node.pinned || arena_.object(node).how != Object::How::reduce) return;
  fail("the result of a call is thrown away");
}

}  // namespace fsdpckpt::pickle
