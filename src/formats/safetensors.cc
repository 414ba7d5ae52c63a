#include "formats/safetensors.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/checked.h"
#include "base/text.h"

namespace fsdpckpt {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the safetensors library

// safetensors/src/tensor.rs, Dtype; F4 counts values, torch counts packed bytes.
constexpr std::array<std::pair<std::string_view, DType>, 19> kNames = {{
    {"F64", DType::float64},
    {"F32", DType::float32},
    {"F16", DType::float16},
    {"BF16", DType::bfloat16},
    {"I64", DType::int64},
    {"I32", DType::int32},
    {"I16", DType::int16},
    {"I8", DType::int8},
    {"U8", DType::uint8},
    {"BOOL", DType::boolean},
    {"C64", DType::complex64},
    {"F8_E4M3", DType::float8_e4m3fn},
    {"F8_E5M2", DType::float8_e5m2},
    {"F8_E4M3FNUZ", DType::float8_e4m3fnuz},
    {"F8_E5M2FNUZ", DType::float8_e5m2fnuz},
    {"F8_E8M0", DType::float8_e8m0fnu},
    {"U16", DType::uint16},
    {"U32", DType::uint32},
    {"U64", DType::uint64},
}};

[[noreturn]] void malformed(const std::string& what) {
  throw Error(ErrorKind::input, cat("malformed safetensors header: ", what));
}

DType dtype_of(const std::string& text) {
  if (text == "F4") return DType::float4_e2m1fn_x2;
  for (const auto& [name, dtype] : kNames) {
    if (name == text) return dtype;
  }
  malformed(cat("unknown dtype ", quote(text)));
}

std::vector<std::int64_t> numbers_of(const json& list) {
  if (!list.is_array()) malformed("a shape or offset is no list");
  std::vector<std::int64_t> numbers;
  for (const json& item : list) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < 0)
      malformed("a shape or offset is no non-negative integer");
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

SafetensorsTensor tensor_of_json(const json& value, std::uint64_t data, std::uint64_t data_size) {
  SafetensorsTensor tensor{.dtype = dtype_of(value.at("dtype").get<std::string>()),
                           .shape = numbers_of(value.at("shape"))};
  if (tensor.dtype == DType::float4_e2m1fn_x2 && !tensor.shape.empty()) tensor.shape.back() /= 2;
  const std::vector<std::int64_t> range = numbers_of(value.at("data_offsets"));
  if (range.size() != 2 || range[0] > range[1] || static_cast<std::uint64_t>(range[1]) > data_size)
    malformed("data lie outside the file");
  std::uint64_t bytes = item_size(tensor.dtype);
  for (const std::int64_t size : tensor.shape) bytes = checked_mul(bytes, static_cast<std::uint64_t>(size), "a tensor");
  tensor.offset = data + static_cast<std::uint64_t>(range[0]);
  tensor.size = static_cast<std::uint64_t>(range[1] - range[0]);
  if (tensor.size != bytes) malformed("data and shape disagree");
  return tensor;
}

void add_sharding_info(const json& header, SafetensorsHeader& result) {
  const auto metadata = header.find("__metadata__");
  if (metadata == header.end() || !metadata->contains("DCP_SHARDING_INFO")) return;
  const json info = json::parse(metadata->at("DCP_SHARDING_INFO").get<std::string>());
  for (const auto& [name, value] : info.items()) {
    const auto tensor = result.tensors.find(name);
    if (tensor != result.tensors.end()) tensor->second.saved_offsets = numbers_of(value.at("saved_offsets"));
  }
}

}  // namespace

const SafetensorsTensor* SafetensorsHeader::find(std::string_view name) const {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

SafetensorsHeader read_safetensors_header(const Source& source, std::uint64_t offset) {
  std::array<std::byte, 8> prefix{};
  source.read_at(offset, prefix);
  const auto length = load_le<std::uint64_t>(prefix.data());
  const std::uint64_t begin = checked_add<std::uint64_t>(offset, 8, "a header");
  if (length > kMaxHeader || length > source.size() - begin) malformed("its length leaves the file");
  std::string text(length, '\0');
  source.read_at(begin, std::as_writable_bytes(std::span(text)));
  SafetensorsHeader result;
  try {
    const json header = json::parse(text);
    for (const auto& [name, value] : header.items()) {
      if (name != "__metadata__")
        result.tensors.emplace(name, tensor_of_json(value, begin + length, source.size() - begin - length));
    }
    add_sharding_info(header, result);
  } catch (const json::exception&) {
    malformed("its JSON is broken");
  }
  return result;
}

}  // namespace fsdpckpt
