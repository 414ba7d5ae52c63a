#include "model/rename.h"

#include <fsdpckpt/error.h>

#include <array>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::array<std::string_view, 3> kAnywhere = {"_orig_mod.", "_fsdp_wrapped_module.",
                                                       "_checkpoint_wrapped_module."};
/// Of DistributedDataParallel, and of Lightning Fabric: around the whole model, so at the start of its names alone.
constexpr std::array<std::string_view, 2> kLeading = {"module.", "_forward_module."};

// The name comes from a file: matching must neither recurse along it nor try exponentially many ways.
#ifdef __GLIBCXX__
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript;
#endif

std::regex compiled(const std::string& pattern) {
  try {
    return std::regex(pattern, kSyntax);
  } catch (const std::regex_error& error) {
    const bool has_reference =
        error.code() == std::regex_constants::error_complexity || error.code() == std::regex_constants::error_backref;
    throw Error(ErrorKind::usage, cat("--rename cannot use ", quote(pattern),
                                      has_reference ? ": back references are not supported"
                                                    : ": it is no regular expression (ECMAScript's syntax)"));
  }
}

void remove_leading(std::string& name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view part : kLeading) {
      if (!name.starts_with(part)) continue;
      name.erase(0, part.size());
      again = true;
    }
  }
}

}  // namespace

std::string without_wrapper_parts(std::string_view key) {
  std::string text(key);
  for (const std::string_view part : kAnywhere) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
      if (at == 0 || text[at - 1] == '.')
        text.erase(at, part.size());
      else
        ++at;
    }
  }
  return text;
}

Renamer::Renamer(const RenameRules& rules) : rules_(rules) {
  for (std::string* prefix : {&rules_.strip_prefix, &rules_.add_prefix}) {
    if (!prefix->empty() && !prefix->ends_with('.')) *prefix += '.';
  }
  for (const std::string& rule : rules.replace) {
    const std::size_t middle = rule.rfind('=');
    if (middle == std::string::npos || middle == 0) {
      throw Error(ErrorKind::usage, cat("--rename is ", quote(rule), ": REGEX=REPLACEMENT was expected"));
    }
    const std::string pattern = rule.substr(0, middle);
    replacements_.push_back({.pattern = pattern, .by = rule.substr(middle + 1), .regex = compiled(pattern)});
  }
}

bool Renamer::is_idle() const {
  return !rules_.clean && rules_.strip_prefix.empty() && replacements_.empty() && rules_.add_prefix.empty();
}

std::string Renamer::key(std::string_view key) const {
  return rules_.clean ? without_wrapper_parts(key) : std::string(key);
}

std::string Renamer::name(std::string_view name) {
  std::string text = key(name);
  if (rules_.clean) remove_leading(text);
  if (!rules_.strip_prefix.empty() && text.starts_with(rules_.strip_prefix)) {
    text.erase(0, rules_.strip_prefix.size());
    is_prefix_used_ = true;
  }
  for (Replacement& rule : replacements_) replace(rule, text);
  if (text.empty()) throw Error(ErrorKind::usage, cat("the renaming leaves nothing of ", quote(name)));
  return rules_.add_prefix + text;
}

void Renamer::replace(Replacement& rule, std::string& name) const {
  if (name.size() > kLongestRenamed) {
    throw Error(ErrorKind::input,
                cat("a name of ", name.size(), " bytes is too long for --rename, which takes up to ", kLongestRenamed));
  }
  if (!std::regex_search(name, rule.regex)) return;
  rule.is_used = true;
  name = std::regex_replace(name, rule.regex, rule.by);
}

std::vector<Renamer::Unused> Renamer::unused() const {
  std::vector<Unused> unused;
  if (!rules_.strip_prefix.empty() && !is_prefix_used_) unused.push_back({"--strip-prefix", rules_.strip_prefix});
  for (const Replacement& rule : replacements_) {
    if (!rule.is_used) unused.push_back({"--rename", rule.pattern});
  }
  return unused;
}

}  // namespace fsdpckpt
