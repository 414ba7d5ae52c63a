// Pickles at protocol 4, opcode by opcode, as Python's pickler lays them out: every object memoised, repeated texts and
// globals read from the memo.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace fsdpckpt::pickle {

/// Of APPENDS and SETITEMS, in Python's Lib/pickle.py.
inline constexpr int kPythonBatch = 1000;

class Protocol4Emitter {
 public:
  /// What was emitted since the last call.
  std::string take() { return std::exchange(out_, {}); }

  void op(char code) { out_.push_back(code); }
  /// Returns the slot.
  std::uint32_t memoize() {
    op('\x94');
    return slots_++;
  }
  void get(std::uint32_t slot) {
    op(slot < 256 ? 'h' : 'j');
    number(slot, slot < 256 ? 1 : 4);
  }
  void integer(std::uint64_t value) {
    const int bytes = value < 256 ? 1 : value < 65536 ? 2 : value < (1U << 31) ? 4 : 8;
    op(bytes == 1 ? 'K' : bytes == 2 ? 'M' : bytes == 4 ? 'J' : '\x8a');
    if (bytes == 8) op('\x08');
    number(value, bytes);
  }
  /// At most 255 bytes.
  void text(const std::string& text) {
    if (const auto known = known_.find(text); known != known_.end()) return get(known->second);
    op('\x8c');
    number(text.size(), 1);
    out_ += text;
    known_[text] = memoize();
  }
  void global(const std::string& module, const std::string& name) {
    const std::string key = module + " " + name;
    if (const auto known = known_.find(key); known != known_.end()) return get(known->second);
    text(module);
    text(name);
    op('\x93');
    known_[key] = memoize();
  }
  /// An empty list or dict: ']' or '}'.
  void container(char code) {
    op(code);
    memoize();
  }
  /// Calls the global below with the one argument on top.
  std::uint32_t call_with_one() {
    op('\x85');
    memoize();
    op('R');
    return memoize();
  }
  /// torch.Size((rows, columns)); returns its slot.
  std::uint32_t size(std::uint64_t rows, std::uint64_t columns) {
    global("torch", "Size");
    integer(rows);
    integer(columns);
    op('\x86');
    memoize();
    return call_with_one();
  }
  void new_object(const std::string& module, const std::string& name) {
    global(module, name);
    op(')');
    op('\x81');
    memoize();
  }
  /// A new object whose state is a dict: key and value pairs follow, then end_object().
  void begin_object(const std::string& module, const std::string& name) {
    new_object(module, name);
    container('}');
    op('(');
  }
  void end_object() { out_ += "ub"; }

 private:
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) op(static_cast<char>(value >> (8 * i)));
  }

  std::string out_ = "\x80\x04";
  std::uint32_t slots_ = 0;
  std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace fsdpckpt::pickle
