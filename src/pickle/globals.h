// What is known of the globals that pickles name: which the weights_only loader of which torch accepts, and which
// only an attack (or a very odd program) pickles. Names only; nothing is ever resolved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pickle/value.h"

namespace fsdpckpt::pickle {

/// The first torch whose torch.load(weights_only=True) accepts module.name, e.g. "2.0", "2.5"; nothing when none does.
/// Python 2 names (__builtin__) count as their Python 3 ones.
std::optional<std::string_view> weights_only_since(std::string_view module, std::string_view name);

/// True for callables of modules that reach the system or other code (os, posix, subprocess, builtins.eval ...), rule
/// P1. `builtins.getattr` and `functools.partial` are judged by is_dangerous_call instead.
bool is_dangerous(std::string_view module, std::string_view name);

/// A global found in a tree.
struct FoundGlobal {
  std::string module;
  std::string name;
  bool operator==(const FoundGlobal&) const = default;
};

struct GlobalScan {
  std::vector<FoundGlobal> all;          ///< each once, in order of first appearance
  std::vector<FoundGlobal> dangerous;    ///< refused under --objects keep; also getattr and partial in unknown calls
  std::vector<FoundGlobal> refused;      ///< not accepted by any torch's weights_only loader
  std::string_view needs_torch = "2.0";  ///< the first torch whose weights_only loader takes the rest
};

/// True for the two enum classes of memory formats, of which DCP metadata pickles members as getattr(class, name).
bool is_memory_format_class(const Values& values, NodeId node);

/// Visits every node reachable from `root` once; what TreeWriter would name (frozenset, __newobj_ex__) counts as
/// refused. getattr is accepted in exactly two shapes: getattr(an enum class of DCP metadata named MEM_FORMAT_ENCODING
/// or _MEM_FORMAT_ENCODING, a name) and getattr(ShardedTensor, 'ProcessGroupState'); functools.partial when its
/// function is not dangerous. bytes values need torch 2.5 (they become _codecs.encode), sets 2.6.
GlobalScan scan_globals(const Values& values, NodeId root);

}  // namespace fsdpckpt::pickle
