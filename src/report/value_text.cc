#include "report/value_text.h"

#include <fsdpckpt/checkpoint.h>
#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "formats/tensor_value.h"

namespace fsdpckpt {
namespace {

using pickle::Kind;
using pickle::NodeId;
using pickle::Values;

constexpr int kMaxDepth = 4;
constexpr std::size_t kLeastShown = 8;  ///< bytes of a text, however full the line is

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// As Python's repr: the shortest text that reads back the same.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class ValueText {
 public:
  ValueText(const Values& values, std::size_t limit) : values_(values), limit_(limit) {}

  std::string of(NodeId node) {
    write(node, 0);
    return escape(text_);
  }

 private:
  [[nodiscard]] bool is_full() const { return text_.size() >= limit_; }

  /// As much of `text` as there is room for, at least a little, and how many characters follow.
  void write_text(std::string_view text) {
    const std::size_t room = std::max(limit_, text_.size() + kLeastShown) - text_.size();
    std::size_t end = std::min(room, text.size());
    while (end > 0 && end < text.size() && is_continuation(text[end])) --end;  // between characters
    text_ += text.substr(0, end);
    if (end < text.size())
      text_ += cat("… ", text.size() - end - std::ranges::count_if(text.substr(end), is_continuation), " more");
  }

  void write(NodeId node, int depth) {
    switch (values_.kind(node)) {
      case Kind::none:
        text_ += "None";
        return;
      case Kind::boolean:
        text_ += values_.boolean(node) ? "True" : "False";
        return;
      case Kind::integer:
        text_ += std::to_string(values_.integer(node));
        return;
      case Kind::big_integer:
        text_ += cat("integer of ", values_.text(node).size(), " bytes");
        return;
      case Kind::real:
        text_ += real_text(values_.real(node));
        return;
      case Kind::text:
        text_ += '\'';
        write_text(values_.text(node));
        text_ += '\'';
        return;
      case Kind::bytes:
      case Kind::byte_array:
        text_ += cat("bytes[", values_.text(node).size(), "]");
        return;
      case Kind::tuple:
        return write_items(node, "(", values_.items(node).size() == 1 ? ",)" : ")", depth);
      case Kind::list:
        return write_items(node, "[", "]", depth);
      case Kind::set:
      case Kind::frozen_set:
        if (!values_.items(node).empty()) return write_items(node, "{", "}", depth);
        text_ += "set()";
        return;
      case Kind::dict:
        return write_dict(values_.items(node), depth);
      case Kind::global:
        write_text(cat(values_.module(node), ".", values_.name(node)));
        return;
      case Kind::object:
        return write_object(node, depth);
      case Kind::persistent:
        text_ += "storage";
        return;
      case Kind::folded:
        return;
    }
  }

  void write_items(NodeId node, std::string_view open, std::string_view close, int depth) {
    const auto items = values_.items(node);
    if (depth >= kMaxDepth) {
      text_ += cat(open, items.size(), " items", close);
      return;
    }
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      if (is_full()) {
        text_ += cat("… ", items.size() - i, " more");
        break;
      }
      write(items[i], depth + 1);
    }
    text_ += close;
  }

  void write_dict(std::span<const NodeId> items, int depth) {
    if (depth >= kMaxDepth) {
      text_ += cat("{", items.size() / 2, " keys}");
      return;
    }
    text_ += "{";
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (i > 0) text_ += ", ";
      if (is_full()) {
        text_ += cat("… ", (items.size() - i) / 2, " more");
        break;
      }
      write(items[i], depth + 1);
      text_ += ": ";
      write(items[i + 1], depth + 1);
    }
    text_ += "}";
  }

  /// Bytes and sets as protocol 2 writes them: _codecs.encode(text, 'latin1'), set([...]).
  bool write_built_in(const pickle::Object& object, int depth) {
    if (values_.kind(object.arguments) != Kind::tuple) return false;
    const auto arguments = values_.items(object.arguments);
    if (values_.is_global(object.callable, "_codecs", "encode") && arguments.size() == 2 &&
        values_.kind(arguments[0]) == Kind::text) {
      const std::string_view text = values_.text(arguments[0]);
      text_ += cat("bytes[", text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation)), "]");
      return true;
    }
    const bool is_set = values_.is_global(object.callable, "__builtin__", "set") ||
                        values_.is_global(object.callable, "builtins", "set");
    if (!is_set || arguments.size() != 1 || values_.kind(arguments[0]) != Kind::list) return false;
    if (values_.items(arguments[0]).empty())
      text_ += "set()";
    else
      write_items(arguments[0], "{", "}", depth);
    return true;
  }

  void write_object(NodeId node, int depth) {
    try {
      if (const auto tensor = tensor_of(values_, node)) {
        text_ += cat("tensor ", name(tensor->dtype), " ", shape_text(tensor->shape));
        return;
      }
    } catch (const Error&) {
      text_ += "tensor of an unsupported kind";
      return;
    }
    const pickle::Object& object = values_.object(node);
    if (values_.is_global(object.callable, "collections", "OrderedDict")) return write_dict(object.dict_items, depth);
    if (write_built_in(object, depth)) return;
    if (depth >= kMaxDepth) {
      text_ += "...";
      return;
    }
    write(object.callable, depth + 1);
    if (values_.kind(object.arguments) == Kind::tuple && !values_.items(object.arguments).empty())
      write_items(object.arguments, "(", ")", depth + 1);
    else
      text_ += "(...)";
  }

  const Values& values_;
  std::size_t limit_;
  std::string text_;
};

}  // namespace

std::string value_text(const Values& values, NodeId node, std::size_t limit) {
  return ValueText(values, limit).of(node);
}

}  // namespace fsdpckpt
