#include <fsdpckpt/error.h>

#include "base/text.h"
#include "pickle/writer.h"

namespace fsdpckpt::pickle {
namespace {

constexpr int kDepth = 1000;
/// Texts up to this length share a memo slot with all equal ones; longer ones only with themselves.
constexpr std::size_t kSharedText = 64;

constexpr std::uint32_t kUnwritten = 0;
constexpr std::uint32_t kInProgress = 1;
constexpr std::uint32_t kFirstSlot = 2;

}  // namespace

TreeWriter::TreeWriter(Writer& writer, const Values& values, std::function<void(NodeId)> write_persistent)
    : writer_(writer), values_(values), write_persistent_(std::move(write_persistent)) {}

void TreeWriter::write(NodeId node) {
  if (write_scalar(node)) return;
  if (node >= slots_.size()) slots_.resize(node + std::size_t{1});
  if (slots_[node] == kInProgress) throw Error(ErrorKind::input, "a value contains itself (a cycle)");
  if (slots_[node] != kUnwritten) return writer_.get(slots_[node] - kFirstSlot);
  if (depth_ == kDepth) throw Error(ErrorKind::input, cat("nested deeper than ", kDepth));
  slots_[node] = kInProgress;
  ++depth_;
  const std::uint32_t slot = write_shared(node);
  --depth_;
  slots_[node] = slot + kFirstSlot;
}

/// Writes values that need no memo slot; false of others.
bool TreeWriter::write_scalar(NodeId node) {
  switch (values_.kind(node)) {
    case Kind::none:
      writer_.none();
      return true;
    case Kind::boolean:
      writer_.boolean(values_.boolean(node));
      return true;
    case Kind::integer:
      writer_.integer(values_.integer(node));
      return true;
    case Kind::big_integer:
      writer_.big_integer(values_.text(node));
      return true;
    case Kind::real:
      writer_.real(values_.real(node));
      return true;
    case Kind::text:
      if (values_.text(node).size() > kSharedText) return false;
      writer_.shared_text(values_.text(node));
      return true;
    case Kind::tuple:
      if (!values_.items(node).empty()) return false;
      writer_.empty_tuple();
      return true;
    case Kind::global:
      writer_.global(values_.module(node), values_.name(node));
      return true;
    default:
      return false;
  }
}

/// Writes a value and returns the memo slot it was given.
std::uint32_t TreeWriter::write_shared(NodeId node) {
  switch (values_.kind(node)) {
    case Kind::text:
      writer_.text(values_.text(node));
      break;
    case Kind::bytes:
      writer_.bytes(values_.text(node));
      break;
    case Kind::byte_array:
      write_byte_array(node);
      break;
    case Kind::tuple:
      write_tuple(values_.items(node));
      break;
    case Kind::list:
      write_list(node);
      break;
    case Kind::dict:
      writer_.empty_dict();
      write_pairs(values_.items(node));
      break;
    case Kind::set:
      write_set("set", node);
      break;
    case Kind::frozen_set:
      write_set("frozenset", node);
      break;
    case Kind::object:
      if (values_.is_empty_bytes_call(node)) {
        writer_.bytes("");
      } else {
        write_object(values_.object(node));
      }
      break;
    case Kind::persistent:
      write_persistent(values_.persistent_id(node));
      break;
    default:
      throw Error(ErrorKind::bug, "a folded value cannot be written");
  }
  return writer_.put();
}

void TreeWriter::write_persistent(NodeId operand) {
  if (write_persistent_) return write_persistent_(operand);
  write(operand);
  writer_.persistent_id();
}

void TreeWriter::write_tuple(std::span<const NodeId> items) {
  const bool is_short = items.size() <= 3;
  if (!is_short) writer_.mark();
  for (const NodeId item : items) write(item);
  if (is_short) {
    writer_.tuple(static_cast<int>(items.size()));
  } else {
    writer_.tuple_from_mark();
  }
}

void TreeWriter::write_list(NodeId list) {
  writer_.empty_list();
  const auto renamed = renamed_.find(list);
  if (renamed == renamed_.end()) return write_items(values_.items(list));
  if (values_.items(list).empty()) return;
  writer_.mark();
  for (const NodeId item : values_.items(list)) {
    const bool is_text = values_.kind(item) == Kind::text;
    const auto name = is_text ? renamed->second->find(values_.text(item)) : renamed->second->end();
    if (name == renamed->second->end())
      write(item);
    else
      writer_.shared_text(name->second);
  }
  writer_.appends();
}

void TreeWriter::write_items(std::span<const NodeId> items) {
  if (items.empty()) return;
  writer_.mark();
  for (const NodeId item : items) write(item);
  writer_.appends();
}

void TreeWriter::write_pairs(std::span<const NodeId> pairs) {
  if (pairs.empty()) return;
  writer_.mark();
  for (const NodeId item : pairs) write(item);
  writer_.set_items();
}

void TreeWriter::write_byte_array(NodeId node) {
  writer_.global("__builtin__", "bytearray");
  writer_.bytes(values_.text(node));
  writer_.tuple(1);
  writer_.reduce();
}

void TreeWriter::write_set(std::string_view type, NodeId node) {
  writer_.global("__builtin__", type);
  writer_.empty_list();
  write_items(values_.items(node));
  writer_.tuple(1);
  writer_.reduce();
}

void TreeWriter::write_object(const Object& object) {
  if (object.how == Object::How::new_object_ex) writer_.global("copy_reg", "__newobj_ex__");
  write(object.callable);
  write(object.arguments);
  if (object.how == Object::How::new_object_ex) {
    write(object.keywords);
    writer_.tuple(3);
  }
  if (object.how == Object::How::new_object) {
    writer_.new_object();
  } else {
    writer_.reduce();
  }
  write_items(object.list_items);
  write_pairs(object.dict_items);
  if (object.state == kNoNode) return;
  write(object.state);
  writer_.build();
}

}  // namespace fsdpckpt::pickle
