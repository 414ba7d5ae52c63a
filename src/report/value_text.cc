#include "report/value_text.h"

#include <fsdpckpt/checkpoint.h>
#include <fsdpckpt/error.h>

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
    if (text_.size() <= limit_) return escape(text_);
    std::size_t end = limit_;
    while (end > 0 && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) --end;  // between characters
    return escape(text_.substr(0, end)) + "...";
  }

 private:
  void write(NodeId node, int depth) {
    if (text_.size() > limit_) return;
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
        text_ += cat('\'', values_.text(node).substr(0, limit_ + 1), '\'');
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
        text_ += cat(values_.module(node), ".", values_.name(node));
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
    for (std::size_t i = 0; i < items.size() && text_.size() <= limit_; ++i) {
      if (i > 0) text_ += ", ";
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
    for (std::size_t i = 0; i + 1 < items.size() && text_.size() <= limit_; i += 2) {
      if (i > 0) text_ += ", ";
      write(items[i], depth + 1);
      text_ += ": ";
      write(items[i + 1], depth + 1);
    }
    text_ += "}";
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
