// The objects of a checkpoint as inspect shows them: read from their items, shown, never run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

struct ShownObject {
  EntryId entry = 0;
  std::uint64_t size = 0;            ///< bytes of its item; 0 for a part of a larger document
  std::string value;                 ///< short, escaped
  std::vector<std::string> globals;  ///< "module.name" of all it names, as in the file, each once
  std::vector<std::string> refused;  ///< of these: what torch.load(weights_only=True) refuses in every version
  std::string_view needs_torch;      ///< the first torch whose weights_only takes it, when nothing is refused
  std::optional<Error> error;        ///< it could not be read; then the rest is empty
};

/// Reads the objects among `entries`, in that order; values are cut to about `limit` characters.
std::vector<ShownObject> read_objects(const Checkpoint::Data& checkpoint, const std::vector<EntryId>& entries,
                                      std::size_t limit);

/// "argparse.Namespace (weights_only refuses it)", "datetime.date, a.B, … 2 more (weights_only refuses 1 of 4)"; what
/// is refused comes first. Empty when it names no global. Escaped.
std::string globals_text(const ShownObject& object);

}  // namespace fsdpckpt
