// Plans a torch file (torch.save's zip archive) from a checkpoint: data.pkl with the nesting, every record and its
// place. Nothing of a tensor is read here; the executor fills the records.
#pragma once

#include <fsdpckpt/convert.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/selection.h"
#include "model/checkpoint_data.h"
#include "zip/layout.h"

namespace fsdpckpt {

/// What fills one record of the output.
struct OutputRecord {
  enum class Source : std::uint8_t { text, tensor, storage };
  Source source = Source::text;
  std::string text;       ///< text: the bytes
  EntryId entry = 0;      ///< tensor: all elements of this entry, dense and row-major; storage: the object it is in
  StoredStorage storage;  ///< storage: bytes copied as they are
};

struct TorchFilePlan {
  zip::Layout layout;
  std::vector<OutputRecord> records;  ///< records[i] fills layout.records()[i]
  std::uint64_t tensors = 0;
  std::uint64_t objects = 0;
  std::uint64_t tensor_bytes = 0;
  std::vector<std::string> notes;
};

/// Throws Error(refused) for object entries that the policy refuses, Error(input) for those that cannot be carried
/// over.
TorchFilePlan plan_torch_file(const Checkpoint::Data& checkpoint, const Selection& selection, ObjectPolicy policy,
                              bool keep_device);

}  // namespace fsdpckpt
