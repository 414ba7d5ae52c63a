// Element types of tensors, spelled as torch spells them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fsdpckpt {

/// Every dtype that torch 2.0 to 2.15 can store in a checkpoint (torch/csrc/api ScalarType, torch.save).
/// float4_e2m1fn_x2 counts packed bytes: one element is one byte that holds two values.
enum class DType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  complex128,
  complex64,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float4_e2m1fn_x2,
  uint16,
  uint32,
  uint64,
  complex32,
  bcomplex32,
  bits8,
  bits16,
  bits1x8,
  bits2x4,
  bits4x2,
};

inline constexpr int kDTypeCount = 28;

/// Bytes of one element.
std::uint32_t item_size(DType dtype);

/// "float32", "bfloat16", "bool" ...: torch's name without the "torch." prefix.
std::string_view name(DType dtype);

/// The dtype of that name (without "torch."), or nothing.
std::optional<DType> dtype_of_name(std::string_view name);

}  // namespace fsdpckpt
