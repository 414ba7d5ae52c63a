#include "pickle/text_blocks.h"

#include <algorithm>

namespace fsdpckpt::pickle {
namespace {

constexpr std::size_t kFirstBlock = 4096;
constexpr std::size_t kLargestBlock = 256 << 10;

}  // namespace

char* TextBlocks::add(std::size_t length, Budget& budget) {
  while (current_ < blocks_.size() && blocks_[current_].size - blocks_[current_].used < length) ++current_;
  if (current_ == blocks_.size()) add_block(length, budget);
  Block& block = blocks_[current_];
  char* text = block.bytes.get() + block.used;
  block.used += length;
  return text;
}

void TextBlocks::add_block(std::size_t length, Budget& budget) {
  const std::size_t usual = blocks_.empty() ? kFirstBlock : std::min(blocks_.back().size * 2, kLargestBlock);
  const std::size_t size = std::max(length, usual);
  budget.make_room(blocks_);
  budget.take(size);
  blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size, 0});
}

void TextBlocks::release(const char* text) noexcept {
  const auto holds = [text](const Block& block) {
    return text >= block.bytes.get() && text < block.bytes.get() + block.size;
  };
  while (current_ == blocks_.size() || !holds(blocks_[current_])) {
    if (current_ < blocks_.size()) blocks_[current_].used = 0;
    --current_;
  }
  blocks_[current_].used = static_cast<std::size_t>(text - blocks_[current_].bytes.get());
}

void TextBlocks::clear() noexcept {
  for (std::size_t i = 0; i < blocks_.size() && i <= current_; ++i) blocks_[i].used = 0;
  current_ = 0;
}

void TextBlocks::free(Budget& budget) noexcept {
  for (const Block& block : blocks_) budget.give(block.size);
  budget.give(blocks_.capacity() * sizeof(Block));
  blocks_ = std::vector<Block>();
  current_ = 0;
}

}  // namespace fsdpckpt::pickle
