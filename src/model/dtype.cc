#include <fsdpckpt/dtype.h>

#include <array>

namespace fsdpckpt {
namespace {

struct Row {
  std::string_view name;
  std::uint32_t item_size;
};

// In the order of the enum. Sizes: c10/core/ScalarType.h.
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"float64", 8},         {"float32", 4},
    {"float16", 2},         {"bfloat16", 2},
    {"int64", 8},           {"int32", 4},
    {"int16", 2},           {"int8", 1},
    {"uint8", 1},           {"bool", 1},
    {"complex128", 16},     {"complex64", 8},
    {"float8_e4m3fn", 1},   {"float8_e5m2", 1},
    {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", 1},  {"float4_e2m1fn_x2", 1},
    {"uint16", 2},          {"uint32", 4},
    {"uint64", 8},          {"complex32", 4},
    {"bcomplex32", 4},      {"bits8", 1},
    {"bits16", 2},          {"bits1x8", 1},
    {"bits2x4", 1},         {"bits4x2", 1},
}};

}  // namespace

std::uint32_t item_size(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].item_size; }

std::string_view name(DType dtype) { return kRows[static_cast<std::size_t>(dtype)].name; }

std::optional<DType> dtype_of_name(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace fsdpckpt
