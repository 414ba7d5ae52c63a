// The pickle machine's memo. Its size follows the number of values put into it, never the number of a slot
// (rule P8); with the result of the scan, slots that are never read cost nothing.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "pickle/budget.h"
#include "pickle/liveness.h"
#include "pickle/value.h"

namespace fsdpckpt::pickle {

class Memo {
 public:
  /// What a slot holds. A folded value is held by its number, so that its node need not live.
  struct Entry {
    std::uint64_t folded = 0;
    NodeId node = kNoNode;  ///< kNoNode: nothing; kFolded: `folded`
  };
  static constexpr NodeId kFolded = kNoNode - 1;

  void clear();
  /// Without `liveness` all slots are kept; otherwise it must outlive the memo's use.
  void start(const Liveness* liveness, Budget& budget);
  /// False of a slot that is never read.
  [[nodiscard]] bool keeps(std::uint32_t slot) const { return liveness_ == nullptr || liveness_->is_live(slot); }
  /// Fills a slot that keeps() accepts.
  void put(std::uint32_t slot, Entry entry, Budget& budget);
  /// The entry of `slot`, or nullptr when it was never filled.
  [[nodiscard]] const Entry* find(std::uint32_t slot) const;
  /// The slot MEMOIZE fills.
  [[nodiscard]] std::uint32_t next_slot() const { return puts_; }
  void count_put() { ++puts_; }

  /// Bytes held.
  [[nodiscard]] std::uint64_t memory() const;

 private:
  void put_sparse(std::uint32_t slot, Entry entry, Budget& budget);

  const Liveness* liveness_ = nullptr;
  std::uint32_t puts_ = 0;
  std::vector<Entry> dense_;  ///< by Liveness::index(), or by slot as long as slots are filled in order
  std::unordered_map<std::uint32_t, Entry> sparse_;
};

}  // namespace fsdpckpt::pickle
