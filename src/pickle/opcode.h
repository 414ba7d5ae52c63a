// The opcodes of pickle protocols 2 to 5 and how their arguments are encoded. Shared by the scan for live memo slots
// and by the machine. Source: CPython 3.13 Lib/pickletools.py.
#pragma once

#include <array>
#include <cstdint>

namespace fsdpckpt::pickle {

enum class Op : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  bin_bytes = 'B',
  short_bin_bytes = 'C',
  bin_float = 'G',
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  none = 'N',
  bin_pers_id = 'Q',
  reduce = 'R',
  bin_string = 'T',
  short_bin_string = 'U',
  bin_unicode = 'X',
  empty_list = ']',
  append = 'a',
  build = 'b',
  global = 'c',
  appends = 'e',
  bin_get = 'h',
  long_bin_get = 'j',
  bin_put = 'q',
  long_bin_put = 'r',
  set_item = 's',
  tuple = 't',
  set_items = 'u',
  empty_dict = '}',
  empty_tuple = ')',
  proto = 0x80,
  new_obj = 0x81,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  new_true = 0x88,
  new_false = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_bin_unicode = 0x8c,
  bin_unicode8 = 0x8d,
  bin_bytes8 = 0x8e,
  empty_set = 0x8f,
  add_items = 0x90,
  frozen_set = 0x91,
  new_obj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  byte_array8 = 0x96,
};

/// The highest protocol read.
inline constexpr std::uint8_t kHighestProtocol = 5;

enum class Argument : std::uint8_t {
  none = 0,
  one = 1,  ///< a number of that many bytes
  two = 2,
  four = 4,
  eight = 8,
  length1,  ///< a length of that many bytes, then as many bytes
  length4,
  length8,
  two_lines,    ///< two texts, each ended by a newline
  unsupported,  ///< the opcode is none of Op: text opcodes of protocols 0 and 1, EXT*, out-of-band buffers, unknown
};

/// The encoding of each opcode's argument.
inline constexpr std::array<Argument, 256> kArguments = [] {
  std::array<Argument, 256> table;
  table.fill(Argument::unsupported);
  const auto set = [&table](Argument argument, auto... ops) {
    ((table[static_cast<std::uint8_t>(ops)] = argument), ...);
  };
  set(Argument::none, Op::mark, Op::stop, Op::pop, Op::pop_mark, Op::dup, Op::none, Op::bin_pers_id, Op::reduce);
  set(Argument::none, Op::empty_list, Op::append, Op::build, Op::appends, Op::set_item, Op::tuple, Op::set_items);
  set(Argument::none, Op::empty_dict, Op::empty_tuple, Op::new_obj, Op::tuple1, Op::tuple2, Op::tuple3);
  set(Argument::none, Op::new_true, Op::new_false, Op::empty_set, Op::add_items, Op::frozen_set, Op::new_obj_ex);
  set(Argument::none, Op::stack_global, Op::memoize);
  set(Argument::one, Op::bin_int1, Op::bin_get, Op::bin_put, Op::proto);
  set(Argument::two, Op::bin_int2);
  set(Argument::four, Op::bin_int, Op::long_bin_get, Op::long_bin_put);
  set(Argument::eight, Op::bin_float, Op::frame);
  set(Argument::length1, Op::short_bin_bytes, Op::short_bin_string, Op::short_bin_unicode, Op::long1);
  set(Argument::length4, Op::bin_bytes, Op::bin_string, Op::bin_unicode, Op::long4);
  set(Argument::length8, Op::bin_unicode8, Op::bin_bytes8, Op::byte_array8);
  set(Argument::two_lines, Op::global);
  return table;
}();

}  // namespace fsdpckpt::pickle
