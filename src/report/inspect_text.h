// The text of `fsdpckpt inspect`.
#pragma once

#include <string>

#include "report/overview.h"

namespace fsdpckpt {

struct InspectShow {
  bool entries = true;
  bool objects = true;
  bool chunks = false;
  bool files = false;
  bool exact_bytes = false;
};

/// Two lines of summary and the tables asked for. Values of objects are read from their items and shown, never run.
std::string inspect_text(const Checkpoint::Data& checkpoint, const Overview& overview, const InspectShow& show);

}  // namespace fsdpckpt
