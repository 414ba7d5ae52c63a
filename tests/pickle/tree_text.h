// Values as text, for comparing trees in tests, and short ways to read pickles.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "pickle/machine.h"
#include "pickle/value.h"

namespace fsdpckpt::pickle {

/// Writes values in a notation close to Python's: None, True, -5, 'text', b'bytes', bytearray(b'..'), (1,), [..], {k:
/// v},
/// {..} of a set as set(..), frozenset(..), <module.name>, call(f, args), new(cls, args), newex(cls, args, kw) each
/// with
/// +[list items], +{dict items} and +state, pid(operand). Shared values are written again.
class TreeText {
 public:
  explicit TreeText(const Values& values) : values_(values) {}

  std::string of(NodeId node) const;
  /// Of an object node as if it had `state`.
  std::string of_object(NodeId node, NodeId state) const;
  /// What stands for a folded node.
  std::function<std::string(std::uint64_t)> folded;
  /// The pairs of a dict that are not written.
  std::function<bool(const Values&, NodeId key)> hides;

 private:
  std::string list(std::span<const NodeId> items) const;
  std::string pairs(std::span<const NodeId> items) const;

  const Values& values_;
};

/// A pickle read from memory in two passes, with what it was read into.
struct Tree {
  explicit Tree(std::string_view pickle, Folder* folder = nullptr, Limits limits = {});

  std::string text() const { return TreeText(values).of(root); }

  Machine machine;
  Values values;
  NodeId root;
};

}  // namespace fsdpckpt::pickle
