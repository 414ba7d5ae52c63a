// The restricted pickle machine: reads protocols 2 to 5 into Values. It imports nothing and calls nothing; every
// opcode that could is a node of the tree. Iterative; memory and depth are bounded; a length is compared with what
// remains before anything is allocated. Rules P1 to P15 of the threat list in SECURITY.md.
//
// Nesting is counted as values are put into each other. Values linked through the memo in another order can be nested
// deeper, or in circles: whoever walks a tree guards itself.
//
// A Folder turns known objects into packed records the moment they are complete, so that a .metadata of millions of
// chunks never becomes a tree: the machine then frees the nodes the object was made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "io/byte_reader.h"
#include "io/source.h"
#include "pickle/value.h"

namespace fsdpckpt::pickle {

struct Limits {
  std::uint64_t memory = 256ULL << 20;  ///< bytes of the arena, memo and stacks; more is Error(input)
  std::uint32_t depth = 1000;           ///< nesting of values and of marks; more is Error(input)
};

/// Recognises objects while a pickle is read. Nodes given to it are valid during the call only.
class Folder {
 public:
  virtual ~Folder() = default;
  /// A global was named. Throw Error(refused) to refuse it; the machine adds the byte offset.
  virtual void check_global(std::string_view module, std::string_view name) = 0;
  /// REDUCE callable(*arguments): a number to keep instead of the object, or nothing to keep the node.
  virtual std::optional<std::uint64_t> fold_reduce(const Values& values, NodeId callable, NodeId arguments) = 0;
  /// BUILD: `object` is an object or folded node, `state` its state. As fold_reduce; nothing for a folded node is an
  /// error, as it has no room for a state.
  virtual std::optional<std::uint64_t> fold_build(const Values& values, NodeId object, NodeId state) = 0;
  struct Key {
    NodeId node;
    std::uint64_t at;  ///< offset of the opcode that pushed it
  };
  /// SETITEM(S) on a dict (not on an object): true when key and value were taken over and the dict shall not hold them.
  virtual bool take_item(const Values& values, Key key, NodeId value) = 0;
  /// The name of what was being read when an error came, for its message; empty when unknown. `stack` holds the values
  /// that are begun and not yet part of another, the outermost first, and `marks` the heights at which MARKs stand.
  [[nodiscard]] virtual std::string entry_on(const Values& values, std::span<const NodeId> stack,
                                             std::span<const std::size_t> marks) const;
};

class Budget;
struct Scratch;

/// Keeps its working memory from pickle to pickle; use one machine a thread.
class Machine {
 public:
  explicit Machine(Limits limits = {});
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// Reads one pickle of a self-contained source: two passes, the first of which finds the memo slots that are read
  /// again, so that everything else can be freed early. Bytes behind STOP are Error(input). Adds to `values`, which the
  /// caller clears, and returns the root. Throws Error(input) or Error(refused) with the byte offset in the source; the
  /// caller adds the path.
  NodeId read(const Source& source, Values& values, Folder* folder = nullptr);

  /// Reads one pickle in one pass and leaves `bytes` behind its STOP. All memo slots are kept.
  NodeId read(ByteReader& bytes, Values& values, Folder* folder = nullptr);

  /// The most bytes that arena, memo and stacks held during the last read.
  [[nodiscard]] std::uint64_t peak_memory() const { return peak_memory_; }

 private:
  template <class MakeReader>
  NodeId read_twice(const MakeReader& make_reader, Values& values, Folder* folder);
  Budget& start(Values& values);
  NodeId run(ByteReader& bytes, Values& values, Folder* folder);

  Limits limits_;
  std::unique_ptr<Scratch> scratch_;
  std::uint64_t peak_memory_ = 0;
};

}  // namespace fsdpckpt::pickle
