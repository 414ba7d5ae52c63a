// What each opcode does.
#include "pickle/arguments.h"
#include "pickle/run.h"

namespace fsdpckpt::pickle {

constexpr void Run::add_value_handlers(Handlers& table) {
  const auto set = [&table](Op op, Handler handler) { table[static_cast<std::uint8_t>(op)] = handler; };
  set(Op::proto, [](Run& run) { check_protocol(run.number<std::uint8_t>()); });
  set(Op::frame, [](Run& run) { check_length(run.number<std::uint64_t>(), run.bytes_); });
  set(Op::none, [](Run& run) { run.push_new(run.arena_.add(Kind::none)); });
  set(Op::new_true, [](Run& run) { run.push_new(run.arena_.add(Kind::boolean, 0, 1)); });
  set(Op::new_false, [](Run& run) { run.push_new(run.arena_.add(Kind::boolean, 0, 0)); });
  set(Op::bin_int1, [](Run& run) { run.push_integer(run.number<std::uint8_t>()); });
  set(Op::bin_int2, [](Run& run) { run.push_integer(run.number<std::uint16_t>()); });
  set(Op::bin_int, [](Run& run) { run.push_integer(run.number<std::int32_t>()); });
  set(Op::long1, [](Run& run) { run.push_long(run.number<std::uint8_t>()); });
  set(Op::long4, [](Run& run) { run.push_long(run.length<std::uint32_t>()); });
  set(Op::bin_float, [](Run& run) { run.push_real(); });
  set(Op::short_bin_unicode, [](Run& run) { run.push_text(run.length<std::uint8_t>()); });
  set(Op::bin_unicode, [](Run& run) { run.push_text(run.length<std::uint32_t>()); });
  set(Op::bin_unicode8, [](Run& run) { run.push_text(run.length<std::uint64_t>()); });
  set(Op::short_bin_string, [](Run& run) { run.push_text(run.length<std::uint8_t>()); });
  set(Op::bin_string, [](Run& run) { run.push_text(run.length<std::uint32_t>()); });
  set(Op::short_bin_bytes, [](Run& run) { run.push_bytes(Kind::bytes, run.length<std::uint8_t>()); });
  set(Op::bin_bytes, [](Run& run) { run.push_bytes(Kind::bytes, run.length<std::uint32_t>()); });
  set(Op::bin_bytes8, [](Run& run) { run.push_bytes(Kind::bytes, run.length<std::uint64_t>()); });
  set(Op::byte_array8, [](Run& run) { run.push_bytes(Kind::byte_array, run.length<std::uint64_t>()); });
  set(Op::global, [](Run& run) { run.push_global(); });
}

constexpr void Run::add_container_handlers(Handlers& table) {
  const auto set = [&table](Op op, Handler handler) { table[static_cast<std::uint8_t>(op)] = handler; };
  set(Op::mark, [](Run& run) { run.push_mark(); });
  set(Op::empty_tuple, [](Run& run) { run.push_new(run.arena_.add_tuple(Kind::tuple, 0)); });
  set(Op::tuple1, [](Run& run) { run.push_tuple(Kind::tuple, run.last(1)); });
  set(Op::tuple2, [](Run& run) { run.push_tuple(Kind::tuple, run.last(2)); });
  set(Op::tuple3, [](Run& run) { run.push_tuple(Kind::tuple, run.last(3)); });
  set(Op::tuple, [](Run& run) { run.push_tuple(Kind::tuple, run.above_mark()); });
  set(Op::frozen_set, [](Run& run) { run.push_tuple(Kind::frozen_set, run.above_mark()); });
  set(Op::empty_list, [](Run& run) { run.push_new(run.arena_.add_list(Kind::list)); });
  set(Op::empty_dict, [](Run& run) { run.push_new(run.arena_.add_list(Kind::dict)); });
  set(Op::empty_set, [](Run& run) { run.push_new(run.arena_.add_list(Kind::set)); });
  set(Op::append, [](Run& run) { run.append(run.last(1)); });
  set(Op::appends, [](Run& run) { run.append(run.above_mark()); });
  set(Op::add_items, [](Run& run) { run.add_items(run.above_mark()); });
  set(Op::set_item, [](Run& run) { run.set_items(run.last(2)); });
  set(Op::set_items, [](Run& run) { run.set_items(run.above_mark()); });
}

constexpr void Run::add_object_handlers(Handlers& table) {
  const auto set = [&table](Op op, Handler handler) { table[static_cast<std::uint8_t>(op)] = handler; };
  set(Op::memoize, [](Run& run) { run.put(run.memo_.next_slot()); });
  set(Op::bin_put, [](Run& run) { run.put(run.number<std::uint8_t>()); });
  set(Op::long_bin_put, [](Run& run) { run.put(run.number<std::uint32_t>()); });
  set(Op::bin_get, [](Run& run) { run.get(run.number<std::uint8_t>()); });
  set(Op::long_bin_get, [](Run& run) { run.get(run.number<std::uint32_t>()); });
  set(Op::stack_global, [](Run& run) { run.push_stack_global(); });
  set(Op::reduce, [](Run& run) { run.reduce(); });
  set(Op::build, [](Run& run) { run.build(); });
  set(Op::new_obj, [](Run& run) { run.new_object(); });
  set(Op::new_obj_ex, [](Run& run) { run.new_object_ex(); });
  set(Op::bin_pers_id, [](Run& run) { run.push_persistent(); });
  set(Op::dup, [](Run& run) { run.dup(); });
  set(Op::pop, [](Run& run) { run.drop_checked(run.last(1)); });
  set(Op::pop_mark, [](Run& run) { run.drop_checked(run.above_mark()); });
}

constinit const Run::Handlers Run::kHandlers = [] {
  Handlers table{};
  add_value_handlers(table);
  add_container_handlers(table);
  add_object_handlers(table);
  return table;
}();

}  // namespace fsdpckpt::pickle
