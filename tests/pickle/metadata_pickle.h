// A .metadata pickle of many chunks, as Python's pickler lays it out at protocol 4, with every object memoised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fsdpckpt::pickle {

struct MetadataShape {
  int tensors = 1;
  int chunks = 1;             ///< of each tensor
  bool sizes_shared = false;  ///< every torch.Size is read from the memo once more
};

/// {fqn: TensorStorageMetadata} and {MetadataIndex: _StorageInfo} in a tuple.
std::string metadata_pickle(const MetadataShape& shape);

}  // namespace fsdpckpt::pickle
