// What torch.load(weights_only=True) refuses of an object, for text and JSON.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// "argparse.Namespace" ...: the globals that no torch's weights_only loader accepts, in order of appearance.
std::vector<std::string> refused_globals(const DocumentPart& part);

/// "refuses argparse.Namespace and 2 more"; empty when nothing is refused.
std::string refusal_text(const std::vector<std::string>& refused);

}  // namespace fsdpckpt
