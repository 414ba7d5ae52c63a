#include "pickle/writer.h"

#include <fsdpckpt/error.h>

#include <bit>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "pickle/opcode.h"

namespace fsdpckpt::pickle {
namespace {

constexpr std::string_view kHeader = "\x80\x02";

template <class T>
void append_number(std::string& to, T value) {
  std::byte bytes[sizeof(T)];
  store_le(bytes, value);
  to.append(as_text(bytes));
}

/// Bytes of the shortest two's complement of `value`.
std::size_t width(std::int64_t value) {
  std::size_t bytes = 1;
  while (bytes < 8 && (value >> (8 * bytes - 1)) != 0 && (value >> (8 * bytes - 1)) != -1) ++bytes;
  return bytes;
}

std::string latin1_as_utf8(std::string_view raw) {
  std::string text;
  text.reserve(raw.size() * 3 / 2);
  for (const char character : raw) {
    const auto byte = static_cast<std::uint8_t>(character);
    if (byte < 0x80) {
      text.push_back(character);
    } else {
      text.push_back(static_cast<char>(0xc0U | byte >> 6U));
      text.push_back(static_cast<char>(0x80U | (byte & 0x3fU)));
    }
  }
  return text;
}

}  // namespace

Writer::Writer() : out_(kHeader) {}

void Writer::op(Op code) { out_.push_back(static_cast<char>(code)); }

void Writer::none() { op(Op::none); }

void Writer::boolean(bool value) { op(value ? Op::new_true : Op::new_false); }

void Writer::integer(std::int64_t value) {
  if (value >= 0 && value <= UINT8_MAX) {
    op(Op::bin_int1);
    append_number(out_, static_cast<std::uint8_t>(value));
  } else if (value >= 0 && value <= UINT16_MAX) {
    op(Op::bin_int2);
    append_number(out_, static_cast<std::uint16_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    op(Op::bin_int);
    append_number(out_, static_cast<std::int32_t>(value));
  } else {
    std::byte bytes[8];
    store_le(bytes, value);
    big_integer(as_text(Bytes(bytes, width(value))));
  }
}

void Writer::big_integer(std::string_view twos_complement) {
  if (twos_complement.size() > UINT8_MAX) {
    throw Error(ErrorKind::input, cat("an integer of ", twos_complement.size(), " bytes, at most 255"));
  }
  op(Op::long1);
  append_number(out_, static_cast<std::uint8_t>(twos_complement.size()));
  out_.append(twos_complement);
}

void Writer::real(double value) {
  op(Op::bin_float);
  append_number(out_, __builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}

void Writer::text(std::string_view utf8) {
  if (utf8.size() > UINT32_MAX) throw Error(ErrorKind::input, cat("a text of ", utf8.size(), " bytes is too long"));
  op(Op::bin_unicode);
  append_number(out_, static_cast<std::uint32_t>(utf8.size()));
  out_.append(utf8);
}

void Writer::shared_text(std::string_view utf8) {
  if (const auto known = texts_.find(utf8); known != texts_.end()) return get(known->second);
  text(utf8);
  texts_.emplace(utf8, put());
}

void Writer::bytes(std::string_view raw) {
  global("_codecs", "encode");
  text(latin1_as_utf8(raw));
  shared_text("latin1");
  tuple(2);
  reduce();
}

void Writer::empty_tuple() { op(Op::empty_tuple); }
void Writer::empty_list() { op(Op::empty_list); }
void Writer::empty_dict() { op(Op::empty_dict); }
void Writer::mark() { op(Op::mark); }
void Writer::tuple_from_mark() { op(Op::tuple); }

void Writer::tuple(int count) {
  constexpr Op kOps[] = {Op::tuple1, Op::tuple2, Op::tuple3};
  if (count < 1 || count > 3) throw Error(ErrorKind::bug, cat("no opcode for a tuple of ", count));
  op(kOps[count - 1]);
}

void Writer::append() { op(Op::append); }
void Writer::appends() { op(Op::appends); }
void Writer::set_item() { op(Op::set_item); }
void Writer::set_items() { op(Op::set_items); }

void Writer::global(std::string_view module, std::string_view name) {
  const std::string key = cat(module, '\n', name);
  if (const auto known = globals_.find(key); known != globals_.end()) return get(known->second);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0) {
    nested_global(module, name.substr(0, dot), name.substr(dot + 1));
  } else {
    op(Op::global);
    out_.append(key);
    out_.push_back('\n');
  }
  globals_.emplace(key, put());
}

/// Protocol 2 cannot name what is inside a class: getattr(outer, inner), as Python's own pickler writes it.
void Writer::nested_global(std::string_view module, std::string_view outer, std::string_view inner) {
  global("__builtin__", "getattr");
  global(module, outer);
  text(inner);
  tuple(2);
  reduce();
}

void Writer::reduce() { op(Op::reduce); }
void Writer::new_object() { op(Op::new_obj); }
void Writer::build() { op(Op::build); }
void Writer::persistent_id() { op(Op::bin_pers_id); }

std::uint32_t Writer::put() {
  if (next_slot_ <= UINT8_MAX) {
    op(Op::bin_put);
    append_number(out_, static_cast<std::uint8_t>(next_slot_));
  } else {
    op(Op::long_bin_put);
    append_number(out_, next_slot_);
  }
  return next_slot_++;
}

void Writer::get(std::uint32_t slot) {
  if (slot <= UINT8_MAX) {
    op(Op::bin_get);
    append_number(out_, static_cast<std::uint8_t>(slot));
  } else {
    op(Op::long_bin_get);
    append_number(out_, slot);
  }
}

std::string Writer::finish() {
  op(Op::stop);
  std::string pickle = std::exchange(out_, std::string(kHeader));
  next_slot_ = 0;
  texts_.clear();
  globals_.clear();
  return pickle;
}

}  // namespace fsdpckpt::pickle
