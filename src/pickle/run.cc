#include "pickle/run.h"

#include <fsdpckpt/error.h>

#include <bit>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "pickle/arguments.h"
#include "pickle/python_text.h"

namespace fsdpckpt::pickle {
namespace {

constexpr std::size_t kLongestInteger = 255;

std::int64_t integer_of(const std::byte* bytes, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < length; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  const std::size_t unused = 64 - 8 * length;
  return length == 0 ? 0 : static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace

std::string_view describe(Kind kind) {
  constexpr std::string_view kNames[] = {
      "none",        "a boolean", "an integer", "an integer",      "a real number", "a text",
      "bytes",       "bytes",     "a tuple",    "a list",          "a dict",        "a set",
      "a frozenset", "a global",  "an object",  "a persistent id", "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

Run::Run(ByteReader& bytes, const Values& values, Arena& arena, Scratch& scratch, const Limits& limits, Folder* folder)
    : bytes_(bytes),
      values_(values),
      arena_(arena),
      budget_(arena.budget),
      stack_(scratch.stack),
      marks_(scratch.marks),
      memo_(scratch.memo),
      scratch_(scratch),
      limits_(limits),
      folder_(folder),
      pinned_end_(arena.count()) {}

NodeId Run::run() {
  try {
    loop();
    return root();
  } catch (const Error& error) {
    throw at_offset(error, op_offset_).in_entry(entry());
  }
}

std::string Run::entry() const {
  if (folder_ == nullptr) return {};
  std::vector<NodeId> nodes;
  for (const Slot& slot : stack_) nodes.push_back(slot.node);
  return folder_->entry_on(values_, nodes, marks_);
}

void Run::loop() {
  for (;;) {
    op_offset_ = bytes_.offset();
    const auto code = std::to_integer<std::uint8_t>(bytes_.next());
    if (static_cast<Op>(code) == Op::stop) return;
    const Handler handler = kHandlers[code];
    if (handler == nullptr) throw_unsupported_opcode(code, op_offset_);
    handler(*this);
  }
}

NodeId Run::root() {
  if (!marks_.empty()) fail("the pickle ends inside a mark");
  if (stack_.size() != 1) fail(cat("the pickle ends with ", stack_.size(), " values, expected 1"));
  return pop();
}

void Run::fail(std::string what) const { throw Error(ErrorKind::input, std::move(what), Where{.offset = op_offset_}); }

void Run::push_real() {
  const auto bits = read_number<std::uint64_t>(bytes_);
  push_new(arena_.add(Kind::real, 0, __builtin_bswap64(bits)));  // big-endian, alone in the format
}

void Run::push_long(std::uint64_t length) {
  if (length > kLongestInteger) fail(cat("an integer of ", length, " bytes, at most ", kLongestInteger));
  if (length <= 8) return push_integer(integer_of(bytes_.take(length), length));
  push_new(read_text(Kind::big_integer, length));
}

void Run::push_text(std::uint64_t length) {
  const NodeId node = read_text(Kind::text, length);
  if (!is_python_text(values_.text(node))) fail("a text is not valid UTF-8");
  push_new(node);
}

NodeId Run::read_text(Kind kind, std::uint64_t length) {
  const NodeId node = arena_.add_text(kind, length);
  char* to = arena_.text_bytes(node);
  if (length <= ByteReader::kMaxView) {
    std::memcpy(to, bytes_.take(length), length);
  } else {
    bytes_.read({reinterpret_cast<std::byte*>(to), length});
  }
  return node;
}

NodeId Run::add_name(const std::string& name) {
  if (!is_python_text(name)) fail("the name of a global is not valid UTF-8");
  const NodeId node = arena_.add_text(Kind::text, name.size());
  std::memcpy(arena_.text_bytes(node), name.data(), name.size());
  return node;
}

void Run::push_global() {
  read_line(bytes_, scratch_.module);
  read_line(bytes_, scratch_.name);
  const NodeId module = add_name(scratch_.module);
  const NodeId name = add_name(scratch_.name);
  if (folder_ != nullptr) folder_->check_global(scratch_.module, scratch_.name);
  push(arena_.add_global(module, name), module);
}

void Run::put(std::uint32_t slot) {
  need(1);
  memo_.count_put();
  if (!memo_.keeps(slot)) return;
  const NodeId id = top().node;
  Node& node = arena_.node(id);
  if (node.kind == Kind::folded && !node.pinned && node.low == 0 && slot != UINT32_MAX) {
    node.low = slot + 1;
    memo_.put(slot, {node.high, Memo::kFolded}, budget_);
    return;
  }
  pin(id);
  memo_.put(slot, {0, id}, budget_);
}

void Run::get(std::uint32_t slot) {
  const Memo::Entry* entry = memo_.find(slot);
  if (entry == nullptr) fail(cat("memo slot ", slot, " is read but was never filled"));
  if (entry->node == Memo::kFolded) return push_new(arena_.add(Kind::folded, slot + 1, entry->folded));
  push(entry->node, arena_.count());
}

void Run::fail_underflow(std::size_t count) const {
  fail(cat("the stack has ", stack_.size() - base(), " values where ", count, " are needed"));
}

NodeId Run::pop() {
  const NodeId node = stack_.back().node;
  stack_.pop_back();
  return node;
}

}  // namespace fsdpckpt::pickle
