// Other names for parameters: rules of text, applied to one name at a time. What of a checkpoint is a name, and which
// names may become one, is decided where the tree is known (formats/renaming.h).
#pragma once

#include <fsdpckpt/convert.h>

#include <cstddef>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace fsdpckpt {

/// Names longer than this are not matched with regular expressions.
inline constexpr std::size_t kLongestRenamed = 1024;

class Renamer {
 public:
  /// Throws Error(usage) for a --rename without "=" or with something that is no regular expression.
  explicit Renamer(const RenameRules& rules);

  /// True when no rule changes anything.
  [[nodiscard]] bool is_idle() const;
  /// A key that is no name: only the wrapper parts that --clean removes anywhere.
  [[nodiscard]] std::string key(std::string_view key) const;
  /// The name after all rules: clean, strip, replace in the order given, add. Throws Error(usage) when nothing is left
  /// of it and Error(input) when it is too long to be matched.
  std::string name(std::string_view name);

  struct Unused {
    std::string option, pattern;
  };
  /// The prefix and the patterns that no name had so far.
  [[nodiscard]] std::vector<Unused> unused() const;

 private:
  struct Replacement {
    std::string pattern, by;
    std::regex regex;
    bool is_used = false;
  };
  void replace(Replacement& rule, std::string& name) const;

  RenameRules rules_;
  std::vector<Replacement> replacements_;
  bool is_prefix_used_ = false;
};

/// `key` without the parts that wrappers leave anywhere in it: "_orig_mod." (torch.compile),
/// "_fsdp_wrapped_module." (torch/distributed/fsdp/_common_utils.py) and "_checkpoint_wrapped_module."
/// (torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py). A part stands at the start or behind a dot.
std::string without_wrapper_parts(std::string_view key);

}  // namespace fsdpckpt
