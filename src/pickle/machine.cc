#include "pickle/machine.h"

#include <fsdpckpt/error.h>

#include "base/text.h"
#include "pickle/liveness.h"
#include "pickle/run.h"

namespace fsdpckpt::pickle {
namespace {

/// A source up to this size is read at once and scanned in memory.
constexpr std::uint64_t kSmallSource = 64 << 10;

/// Counts the scratch memory in the arena's budget for the time of one read, and notes the peak at its end.
class ScratchCharge {
 public:
  ScratchCharge(Budget& budget, const Scratch& scratch, std::uint64_t& peak)
      : budget_(budget), scratch_(scratch), peak_(peak) {
    budget_.take(scratch_.memory());
  }
  ~ScratchCharge() {
    peak_ = budget_.peak();
    budget_.give(scratch_.memory());
  }
  ScratchCharge(const ScratchCharge&) = delete;
  ScratchCharge& operator=(const ScratchCharge&) = delete;

 private:
  Budget& budget_;
  const Scratch& scratch_;
  std::uint64_t& peak_;
};

void check_at_end(ByteReader& bytes) {
  if (bytes.at_end()) return;
  throw Error(ErrorKind::input, cat(bytes.remaining(), " bytes behind the end of the pickle"),
              Where{.offset = bytes.offset()});
}

}  // namespace

void Scratch::clear() {
  stack.clear();
  marks.clear();
  liveness.clear();
  memo.clear();
}

std::uint64_t Scratch::memory() const {
  return stack.capacity() * sizeof(Slot) + marks.capacity() * sizeof marks[0] + memo.memory() + liveness.memory();
}

std::string Folder::entry_on(const Values&, std::span<const NodeId>, std::span<const std::size_t>) const { return {}; }

Machine::Machine(Limits limits) : limits_(limits), scratch_(std::make_unique<Scratch>()) {}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

NodeId Machine::read(const Source& source, Values& values, Folder* folder) {
  if (source.size() > kSmallSource) {
    return read_twice([&source] { return SourceReader(source); }, values, folder);
  }
  std::vector<std::byte>& small = scratch_->small;
  small.resize(kSmallSource);
  const MutableBytes bytes(small.data(), source.size());
  source.read_at(0, bytes);
  return read_twice([bytes] { return MemoryReader(bytes); }, values, folder);
}

template <class MakeReader>
NodeId Machine::read_twice(const MakeReader& make_reader, Values& values, Folder* folder) {
  Budget& budget = start(values);
  const ScratchCharge charge(budget, *scratch_, peak_memory_);
  {
    auto bytes = make_reader();
    scratch_->liveness.scan(bytes, budget);
    check_at_end(bytes);
  }
  auto bytes = make_reader();
  scratch_->memo.start(&scratch_->liveness, budget);
  return run(bytes, values, folder);
}

NodeId Machine::read(ByteReader& bytes, Values& values, Folder* folder) {
  Budget& budget = start(values);
  const ScratchCharge charge(budget, *scratch_, peak_memory_);
  scratch_->memo.start(nullptr, budget);
  return run(bytes, values, folder);
}

Budget& Machine::start(Values& values) {
  scratch_->clear();
  Budget& budget = values.arena_->budget;
  budget.start(limits_.memory);
  return budget;
}

NodeId Machine::run(ByteReader& bytes, Values& values, Folder* folder) {
  return Run(bytes, values, *values.arena_, *scratch_, limits_, folder).run();
}

}  // namespace fsdpckpt::pickle
