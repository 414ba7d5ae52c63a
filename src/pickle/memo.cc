#include "pickle/memo.h"

namespace fsdpckpt::pickle {
namespace {

/// What an entry of a standard hash map costs, about.
constexpr std::uint64_t kSparseBytes = 56;

}  // namespace

void Memo::clear() {
  liveness_ = nullptr;
  puts_ = 0;
  sparse_.clear();
  dense_.clear();
}

void Memo::start(const Liveness* liveness, Budget& budget) {
  liveness_ = liveness;
  if (liveness_ == nullptr) return;
  budget.make_room(dense_, liveness_->count());
  dense_.resize(liveness_->count());
}

void Memo::put(std::uint32_t slot, Entry entry, Budget& budget) {
  if (liveness_ != nullptr) {
    if (const auto index = liveness_->index(slot)) {
      dense_[*index] = entry;
    } else {
      put_sparse(slot, entry, budget);
    }
  } else if (slot < dense_.size()) {
    dense_[slot] = entry;
  } else if (slot == dense_.size()) {
    budget.make_room(dense_);
    dense_.push_back(entry);
  } else {
    put_sparse(slot, entry, budget);
  }
}

void Memo::put_sparse(std::uint32_t slot, Entry entry, Budget& budget) {
  if (!sparse_.contains(slot)) budget.take(kSparseBytes);
  sparse_[slot] = entry;
}

const Memo::Entry* Memo::find(std::uint32_t slot) const {
  const auto index = liveness_ != nullptr ? liveness_->index(slot) : std::optional(slot);
  if (index && *index < dense_.size()) return dense_[*index].node == kNoNode ? nullptr : &dense_[*index];
  const auto found = sparse_.find(slot);
  return found == sparse_.end() ? nullptr : &found->second;
}

std::uint64_t Memo::memory() const { return dense_.capacity() * sizeof(Entry) + sparse_.size() * kSparseBytes; }

}  // namespace fsdpckpt::pickle
