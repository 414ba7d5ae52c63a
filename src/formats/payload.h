// Finds the tensor bytes inside a stored item: the payload of data/0 in an item's archive, or the tensor's place in a
// safetensors blob, and checks that the item's own dtype and shape are what the metadata says (rule X5).
#pragma once

#include <fsdpckpt/checkpoint.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_value.h"
#include "io/file_set.h"
#include "io/source.h"
#include "pickle/value.h"
#include "zip/directory.h"

namespace fsdpckpt {

/// Where the elements of a chunk are.
struct Payload {
  std::uint64_t offset = 0;  ///< of the first element, relative to what was searched (item, file or decoded stream)
  std::uint64_t storage_offset = 0;   ///< of the storage record's first byte, likewise
  std::uint64_t storage_size = 0;     ///< bytes of the storage record
  std::uint32_t crc = 0;              ///< of the storage record; 0: no checksum
  std::vector<std::int64_t> strides;  ///< elements; empty when the chunk lies dense and row-major
  LazyBits lazy;                      ///< what is still to be done to the elements
};

/// What the metadata says of a chunk.
struct ExpectedChunk {
  std::string_view name;  ///< FQN, looked up in safetensors blobs
  DType dtype;
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> offsets;
};

/// Searches items of one thread; keeps its memory and what it learnt from the item before, since the pickles of
/// neighbouring items are mostly the same bytes.
class PayloadFinder {
 public:
  /// The payload in the torch.save archive that fills `item`. Throws Error(input) when the archive is malformed, its
  /// pickle has another checksum than is stored, or it holds another dtype, shape, or kind of value.
  Payload in_archive(const Source& item, const ExpectedChunk& expected);
  /// The payload in the safetensors blob that starts at `blob_offset` of `file`; offsets in the result are the file's.
  Payload in_safetensors(const Source& file, std::uint64_t blob_offset, const ExpectedChunk& expected);
  /// The device tag of the item last found in an archive, e.g. "cuda:3".
  [[nodiscard]] const std::string& location() const { return location_; }

 private:
  const StoredTensor& read_pickle(const Source& item, const zip::Record& record);

  zip::Directory directory_;
  pickle::Values values_;
  std::vector<std::byte> pickle_, last_pickle_;
  StoredTensor tensor_;
  std::string key_, location_;
  std::string header_key_;  ///< which safetensors header is kept
  struct Header;
  std::shared_ptr<Header> header_;
};

/// Throws Error(input) unless dtype and shape agree.
void check_item(const ExpectedChunk& expected, DType dtype, std::span<const std::int64_t> shape);

}  // namespace fsdpckpt
