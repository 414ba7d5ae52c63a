// The text of `fsdpckpt inspect`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/objects.h"
#include "report/overview.h"

namespace fsdpckpt {

/// Which parts are shown, and how.
struct InspectShow {
  bool entries = true;
  bool objects = true;
  bool chunks = false;
  bool files = false;
  bool tree = false;
  bool exact_bytes = false;
  std::size_t width = 0;  ///< of a terminal, in characters; 0: lines of any length
};

/// What inspect prints of a checkpoint.
struct Inspected {
  const Checkpoint::Data& checkpoint;
  const std::vector<bool>& selected;  ///< by EntryId
  const Overview& overview;
  const std::vector<EntryId>& order;        ///< the selected entries as they are to be listed
  const std::vector<ShownObject>& objects;  ///< in that order; empty unless they are shown
};

/// Two or three lines of summary and the tables asked for.
std::string inspect_text(const Inspected& inspected, const InspectShow& show);

}  // namespace fsdpckpt
