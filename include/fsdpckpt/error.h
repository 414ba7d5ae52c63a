// The one exception type of fsdpckpt. Thrown where a fact is known; the context that only a caller
// knows (file, entry) is added once, at the boundary that knows it, with the `in_...` functions.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace fsdpckpt {

/// What kind of failure it is; base/exit_code.h maps each kind to a process exit code.
enum class ErrorKind {
  usage,        ///< the call was wrong: an option, a pattern that matches nothing
  input,        ///< the input is missing, malformed or of an unsupported kind
  io,           ///< cannot read, write or sync; disk full; permission
  refused,      ///< refused for safety: output exists, a path that leaves SRC, hostile globals
  ranks,        ///< ranks died, timed out or disagree
  interrupted,  ///< SIGINT
  terminated,   ///< SIGTERM
  bug,          ///< a bug in fsdpckpt
};

/// Where it happened; only what is known is set.
struct Where {
  std::string path = {};                     ///< file or directory, as the user can open it
  std::optional<std::uint64_t> offset = {};  ///< byte offset in `path`
  std::string entry = {};                    ///< FQN of the entry
  std::string box = {};                      ///< rows and columns concerned, e.g. "[3:5, 0:7]"
  std::optional<int> rank = {};              ///< the rank of the run that met it
  std::string rank_text = {};                ///< the same for people: "rank 2 of 4 on host7"
};

/// Texts are lower case without a full stop; names in them are quoted with base/text.h quote().
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string what, Where where = {}, std::string hint = {})
      : kind_(kind), what_(std::move(what)), where_(std::move(where)), hint_(std::move(hint)) {}

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  [[nodiscard]] const Where& where() const { return where_; }
  /// One command or action that is sure to help, or empty.
  [[nodiscard]] const std::string& hint() const { return hint_; }

  /// Context is added only where none is set yet: the innermost place knows best.
  Error& in_path(const std::string& path) { return fill(where_.path, path); }
  Error& in_entry(const std::string& entry) { return fill(where_.entry, entry); }
  Error& in_box(const std::string& box) { return fill(where_.box, box); }
  Error& in_rank(int rank, const std::string& text) {
    if (!where_.rank) where_.rank = rank;
    return fill(where_.rank_text, text);
  }
  Error& with_hint(const std::string& hint) { return fill(hint_, hint); }

 private:
  Error& fill(std::string& field, const std::string& value) {
    if (field.empty()) field = value;
    return *this;
  }

  ErrorKind kind_;
  std::string what_;
  Where where_;
  std::string hint_;
};

}  // namespace fsdpckpt
