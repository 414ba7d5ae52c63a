#include "pickle/globals.h"

#include <algorithm>

#include "pickle/globals_tables.h"

namespace fsdpckpt::pickle {
namespace {

bool contains(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

/// The Python 3 name of a module of Python 2.
std::string_view canonical(std::string_view module) {
  if (module == "__builtin__" || module == "exceptions") return "builtins";
  if (module == "copy_reg") return "copyreg";
  return module;
}

/// Calls `test` with each part between dots until it says true; false when it never does.
template <class Test>
bool any_part(std::string_view name, const Test& test) {
  for (;;) {
    const std::size_t dot = name.find('.');
    if (test(name.substr(0, dot))) return true;
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

/// True for `modules` and what is in them: os and os.path.
bool is_in_modules(std::string_view module, Names modules) {
  for (std::size_t end = module.size(); end != std::string_view::npos; end = module.rfind('.', end - 1)) {
    if (contains(modules, module.substr(0, end))) return true;
    if (end == 0) return false;
  }
  return false;
}

bool is_system_module(std::string_view part) { return contains(system_modules(), part); }

/// Modules are imported under such names too: _os, _sys, __builtins__.
bool is_imported_system_module(std::string_view part) {
  while (part.starts_with('_')) part.remove_prefix(1);
  while (part.ends_with('_')) part.remove_suffix(1);
  return is_system_module(part);
}

bool is_special(std::string_view part) {
  return part.size() > 4 && part.starts_with("__") && part.ends_with("__") && part != "__new__";
}

/// A dotted name reaches into its first part; special attributes and imported modules lead everywhere.
bool reaches_elsewhere(std::string_view module, std::string_view name) {
  if (any_part(name, is_imported_system_module)) return true;
  if (module != "builtins" && any_part(module, is_system_module)) return true;
  if (name.find('.') == std::string_view::npos) return false;
  return module == "pathlib" || module == "pathlib._local" || any_part(name, is_special);
}

bool is_listed(std::string_view module, std::string_view name) {
  for (const ModuleNames& closed : closed_modules()) {
    if (closed.module == module) return !contains(closed.names, name);
  }
  const std::string_view first = name.substr(0, name.find('.'));
  for (const ModuleNames& listed : dangerous_names()) {
    if (listed.module == module && contains(listed.names, first)) return true;
  }
  return any_part(name, [](std::string_view part) { return contains(dangerous_anywhere(), part); });
}

}  // namespace

std::optional<std::string_view> weights_only_since(std::string_view module, std::string_view name) {
  for (const WeightsOnlyGroup& group : weights_only_groups()) {
    if (group.module == canonical(module) && contains(group.names, name)) return group.since;
  }
  return std::nullopt;
}

bool is_dangerous(std::string_view module, std::string_view name) {
  const std::string_view known = canonical(module);
  return is_in_modules(known, dangerous_modules()) || is_listed(known, name) || reaches_elsewhere(known, name);
}

}  // namespace fsdpckpt::pickle
