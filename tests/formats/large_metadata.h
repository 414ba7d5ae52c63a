// A .metadata of very many chunks, laid out as Python's pickler does at protocol 4: every object memoised.
#pragma once

#include <cstdint>
#include <string>

namespace fsdpckpt {

struct LargeMetadata {
  int tensors = 1;
  int chunks = 1;                   ///< of each tensor; chunk i lies in the file of rank i % kLargeRanks
  bool storage_data_first = false;  ///< no torch does so, but the order of attributes is free
  bool shared_offsets = false;      ///< a MetadataIndex takes its chunk's torch.Size from the memo
};
inline constexpr int kLargeRanks = 1000;
inline constexpr std::uint64_t kLargeItem = 4096;  ///< bytes; tensor t's item lies at t * kLargeItem

/// The FQN of tensor `tensor`, and the name of rank `rank`'s file.
std::string large_name(int tensor);
std::string large_file(int rank);

/// Writes the pickle into `path` and returns its size.
std::uint64_t write_large_metadata(const LargeMetadata& shape, const std::string& path);

}  // namespace fsdpckpt
