#include "pickle/liveness.h"

#include "pickle/arguments.h"

namespace fsdpckpt::pickle {
namespace {

/// What an entry of a standard hash set costs, about.
constexpr std::uint64_t kStrayBytes = 32;

}  // namespace

void Liveness::clear() {
  puts_ = 0;
  words_.clear();
  ranks_.clear();
  strays_.clear();
  count_ = 0;
}

void Liveness::scan(ByteReader& bytes, Budget& budget) {
  clear();
  std::uint64_t offset = 0;
  try {
    for (;;) {
      offset = bytes.offset();
      const auto code = static_cast<std::uint8_t>(bytes.next());
      if (static_cast<Op>(code) == Op::stop) break;
      step(bytes, budget, code, offset);
    }
    count_ranks(budget);
  } catch (const Error& error) {
    throw at_offset(error, offset);
  }
}

void Liveness::step(ByteReader& bytes, Budget& budget, std::uint8_t code, std::uint64_t offset) {
  switch (static_cast<Op>(code)) {
    case Op::memoize:
      ++puts_;
      return;
    case Op::bin_get:
      return add(read_number<std::uint8_t>(bytes), budget);
    case Op::long_bin_get:
      return add(read_number<std::uint32_t>(bytes), budget);
    case Op::bin_put:
      ++puts_;
      bytes.take(1);
      return;
    case Op::long_bin_put:
      ++puts_;
      bytes.take(4);
      return;
    case Op::proto:
      return check_protocol(read_number<std::uint8_t>(bytes));
    default:
      break;
  }
  const Argument argument = kArguments[code];
  if (argument == Argument::unsupported) throw_unsupported_opcode(code, offset);
  skip_argument(bytes, argument);
}

void Liveness::add(std::uint32_t slot, Budget& budget) {
  if (slot >= puts_) {
    budget.take(kStrayBytes);
    if (!strays_.insert(slot).second) budget.give(kStrayBytes);
    return;
  }
  const std::size_t word = slot / 64;
  if (word >= words_.size()) {
    budget.make_room(words_, word + 1 - words_.size());
    words_.resize(word + 1);
  }
  words_[word] |= std::uint64_t{1} << (slot % 64);
}

void Liveness::count_ranks(Budget& budget) {
  budget.make_room(ranks_, words_.size());
  for (const std::uint64_t word : words_) {
    ranks_.push_back(count_);
    count_ += static_cast<std::uint32_t>(std::popcount(word));
  }
}

std::uint64_t Liveness::memory() const {
  return words_.capacity() * sizeof words_[0] + ranks_.capacity() * sizeof ranks_[0] + strays_.size() * kStrayBytes;
}

}  // namespace fsdpckpt::pickle
