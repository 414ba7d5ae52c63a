#include <charconv>
#include <unordered_set>

#include "base/text.h"
#include "pickle/globals.h"

namespace fsdpckpt::pickle {
namespace {

bool is_builtin(const Values& values, NodeId node, std::string_view name) {
  return values.is_global(node, "builtins", name) || values.is_global(node, "__builtin__", name);
}

bool is_sharded_tensor_class(const Values& values, NodeId node) {
  return values.is_global(node, "torch.distributed._shard.sharded_tensor.api", "ShardedTensor");
}

/// getattr(class, name) as DCP metadata and sharded tensors have it.
bool is_known_getattr(const Values& values, std::span<const NodeId> arguments) {
  if (arguments.size() != 2 || values.kind(arguments[1]) != Kind::text) return false;
  const std::string_view name = values.text(arguments[1]);
  if (is_memory_format_class(values, arguments[0])) return name.starts_with("TORCH_") && name.find('.') == name.npos;
  return is_sharded_tensor_class(values, arguments[0]) && name == "ProcessGroupState";
}

bool is_harmless_partial(const Values& values, std::span<const NodeId> arguments) {
  if (arguments.empty()) return false;
  const NodeId function = arguments[0];
  if (values.kind(function) == Kind::object) return true;  // what made it is judged by itself
  return values.kind(function) == Kind::global && !is_builtin(values, function, "getattr") &&
         !is_dangerous(values.module(function), values.name(function));
}

bool is_partial(const Values& values, NodeId node) {
  return values.is_global(node, "functools", "partial") || values.is_global(node, "_functools", "partial");
}

/// True when the object's callable is one that its arguments make harmless.
bool is_harmless_call(const Values& values, const Object& object) {
  const auto arguments = values.items(object.arguments);
  if (object.how != Object::How::reduce) return false;
  if (is_builtin(values, object.callable, "getattr")) return is_known_getattr(values, arguments);
  return is_partial(values, object.callable) && is_harmless_partial(values, arguments);
}

/// The number behind "2.".
int minor(std::string_view version) {
  int number = 0;
  std::from_chars(version.data() + version.find('.') + 1, version.data() + version.size(), number);
  return number;
}

class Scanner {
 public:
  explicit Scanner(const Values& values) : values_(values) {}

  GlobalScan scan(NodeId root) {
    pending_.push_back(root);
    while (!pending_.empty()) {
      const NodeId node = pending_.back();
      pending_.pop_back();
      if (node != kNoNode && is_first_visit(node)) visit(node);
    }
    return std::move(result_);
  }

 private:
  bool is_first_visit(NodeId node) {
    if (node >= visited_.size()) visited_.resize(node + std::size_t{1});
    const bool first = !visited_[node];
    visited_[node] = true;
    return first;
  }

  void visit(NodeId node) {
    switch (values_.kind(node)) {
      case Kind::bytes:
      case Kind::byte_array:
        return need_torch("2.5");
      case Kind::set:
        need_torch("2.6");
        return push(values_.items(node));
      case Kind::frozen_set:
        add_once(refused_, result_.refused, {"builtins", "frozenset"});
        return push(values_.items(node));
      case Kind::tuple:
      case Kind::list:
      case Kind::dict:
        return push(values_.items(node));
      case Kind::persistent:
        return pending_.push_back(values_.persistent_id(node));
      case Kind::global:
        return add_global(node, !depends_on_call(node));
      case Kind::object:
        if (values_.is_empty_bytes_call(node)) return need_torch("2.5");
        return visit_object(values_.object(node));
      default:
        return;
    }
  }

  /// Last first, so that they are visited in their order.
  void push(std::span<const NodeId> nodes) { pending_.insert(pending_.end(), nodes.rbegin(), nodes.rend()); }

  void visit_object(const Object& object) {
    pending_.push_back(object.state);
    push(object.dict_items);
    push(object.list_items);
    pending_.push_back(object.keywords);
    pending_.push_back(object.arguments);
    if (object.how == Object::How::new_object_ex) add_once(refused_, result_.refused, {"copyreg", "__newobj_ex__"});
    if (is_harmless_call(values_, object)) {
      add_global(object.callable, true);  // not visited: elsewhere it is not harmless
    } else {
      pending_.push_back(object.callable);
    }
  }

  /// True of the globals that only the call they are in makes harmless.
  bool depends_on_call(NodeId node) const { return is_builtin(values_, node, "getattr") || is_partial(values_, node); }

  void add_global(NodeId node, bool harmless_here) {
    const FoundGlobal global{std::string(values_.module(node)), std::string(values_.name(node))};
    add_once(all_, result_.all, global);
    if (!harmless_here || is_dangerous(global.module, global.name)) add_once(dangerous_, result_.dangerous, global);
    if (const auto since = weights_only_since(global.module, global.name)) {
      need_torch(*since);
    } else {
      add_once(refused_, result_.refused, global);
    }
  }

  static void add_once(std::unordered_set<std::string>& known, std::vector<FoundGlobal>& list,
                       const FoundGlobal& global) {
    if (known.insert(cat(global.module, '\n', global.name)).second) list.push_back(global);
  }

  void need_torch(std::string_view version) {
    if (minor(version) > minor(result_.needs_torch)) result_.needs_torch = version;
  }

  const Values& values_;
  std::vector<NodeId> pending_;
  std::vector<bool> visited_;
  std::unordered_set<std::string> all_;
  std::unordered_set<std::string> dangerous_;
  std::unordered_set<std::string> refused_;
  GlobalScan result_;
};

}  // namespace

bool is_memory_format_class(const Values& values, NodeId node) {
  return values.is_global(node, "torch.distributed._shard.sharded_tensor.metadata", "MEM_FORMAT_ENCODING") ||
         values.is_global(node, "torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING");
}

GlobalScan scan_globals(const Values& values, NodeId root) { return Scanner(values).scan(root); }

}  // namespace fsdpckpt::pickle
