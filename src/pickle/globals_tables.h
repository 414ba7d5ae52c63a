// The tables behind globals.h. Private to src/pickle.
#pragma once

#include <span>
#include <string_view>

namespace fsdpckpt::pickle {

using Names = std::span<const std::string_view>;

/// Globals of one module that torch's weights_only loader accepts from one version on.
struct WeightsOnlyGroup {
  std::string_view module;
  std::string_view since;
  Names names;
};
std::span<const WeightsOnlyGroup> weights_only_groups();

/// Some names of one module.
struct ModuleNames {
  std::string_view module;
  Names names;
};

/// Modules nothing of which an honest pickle names; their submodules included.
Names dangerous_modules();
/// Modules of which an honest pickle names nothing but the given.
std::span<const ModuleNames> closed_modules();
/// Names that reach the system or other code, in modules that are otherwise harmless.
std::span<const ModuleNames> dangerous_names();
/// Functions that modules of any name re-export.
Names dangerous_anywhere();
/// Modules that others import, so that they can be reached through them (random._os).
Names system_modules();

}  // namespace fsdpckpt::pickle
