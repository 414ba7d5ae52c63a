#include <bit>

#include "pickle/arena.h"

namespace fsdpckpt::pickle {
namespace {

const Node kNothing;
const Object kNoObject;

const Node& at(const Arena& arena, NodeId node) { return node < arena.count() ? arena.node(node) : kNothing; }

}  // namespace

Values::Values() : arena_(std::make_unique<Arena>()) {}
Values::~Values() = default;
Values::Values(Values&&) noexcept = default;
Values& Values::operator=(Values&&) noexcept = default;

void Values::clear() { arena_->clear(); }

Kind Values::kind(NodeId node) const { return at(*arena_, node).kind; }

bool Values::boolean(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::boolean && value.high != 0;
}

std::int64_t Values::integer(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::integer ? static_cast<std::int64_t>(value.high) : 0;
}

double Values::real(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::real ? std::bit_cast<double>(value.high) : 0;
}

std::string_view Values::text(NodeId node) const {
  const Node& value = at(*arena_, node);
  switch (value.kind) {
    case Kind::text:
    case Kind::bytes:
    case Kind::byte_array:
    case Kind::big_integer:
      return arena_->text(value);
    default:
      return {};
  }
}

std::span<const NodeId> Values::items(NodeId node) const {
  const Node& value = at(*arena_, node);
  switch (value.kind) {
    case Kind::tuple:
    case Kind::frozen_set:
      return {arena_->tuple_items(value), value.low};
    case Kind::list:
    case Kind::dict:
    case Kind::set:
      return arena_->list(value);
    default:
      return {};
  }
}

std::string_view Values::module(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::global ? text(value.low) : std::string_view();
}

std::string_view Values::name(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::global ? text(static_cast<NodeId>(value.high)) : std::string_view();
}

const Object& Values::object(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::object ? arena_->object(value) : kNoObject;
}

NodeId Values::persistent_id(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::persistent ? value.low : kNoNode;
}

std::uint64_t Values::folded(NodeId node) const {
  const Node& value = at(*arena_, node);
  return value.kind == Kind::folded ? value.high : 0;
}

bool Values::is_global(NodeId node, std::string_view module_name, std::string_view global_name) const {
  return kind(node) == Kind::global && name(node) == global_name && module(node) == module_name;
}

bool Values::is_empty_bytes_call(NodeId node) const {
  const Object& call = object(node);
  const bool is_bytes =
      is_global(call.callable, "__builtin__", "bytes") || is_global(call.callable, "builtins", "bytes");
  return is_bytes && call.how == Object::How::reduce && kind(call.arguments) == Kind::tuple &&
         items(call.arguments).empty() && call.state == kNoNode && call.list_items.empty() && call.dict_items.empty();
}

NodeId Values::find(NodeId dict, std::string_view key) const {
  if (kind(dict) != Kind::dict) return kNoNode;
  const auto pairs = items(dict);
  for (std::size_t i = pairs.size(); i >= 2; i -= 2) {
    if (kind(pairs[i - 2]) == Kind::text && text(pairs[i - 2]) == key) return pairs[i - 1];
  }
  return kNoNode;
}

std::uint64_t Values::memory() const { return arena_->budget.used(); }

}  // namespace fsdpckpt::pickle
