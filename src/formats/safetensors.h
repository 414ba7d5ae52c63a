// The header of a safetensors blob: 8 bytes of length, JSON, then the data. As torch's FileSystemWriter embeds it in
// .distcp files (SerializationFormat.SAFETENSORS, torch 2.7 and later). https://github.com/huggingface/safetensors,
// "Format".
#pragma once

#include <fsdpckpt/dtype.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.h"

namespace fsdpckpt {

struct SafetensorsTensor {
  DType dtype = DType::uint8;
  std::vector<std::int64_t> shape;  ///< float4 counted in packed bytes, as torch counts
  std::uint64_t offset = 0;         ///< of the data in the source
  std::uint64_t size = 0;           ///< bytes
  std::vector<std::int64_t>
      saved_offsets;  ///< DCP_SHARDING_INFO: where the chunk lies in the whole tensor; may be empty
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsTensor, std::less<>> tensors;
  [[nodiscard]] const SafetensorsTensor* find(std::string_view name) const;
};

/// Reads and validates the header at `offset`: length within the source and at most 100 MB, known dtypes, data inside
/// the source, sizes as dtype and shape demand. Throws Error(input).
SafetensorsHeader read_safetensors_header(const Source& source, std::uint64_t offset);

}  // namespace fsdpckpt
