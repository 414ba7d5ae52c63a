// The command line as plain data: parsed, defaults filled in, options that exclude each other refused before a file is
// opened.
#pragma once

#include <fsdpckpt/convert.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/entry_order.h"

namespace fsdpckpt {

enum class When : std::uint8_t { automatic, always, never };

struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  When color = When::automatic;
  When progress = When::automatic;
};

/// DST for a file that is written to stdout, front to back.
inline constexpr std::string_view kStandardOutput = "-";

/// How many ranks do the work, and how long they wait for each other.
struct RankOptions {
  int count = 0;  ///< 0: what the launcher says, or this process alone
  std::chrono::milliseconds timeout{300'000};
};

struct ConsolidateCommand {
  std::string source;
  std::vector<std::string> files_in;
  std::string target;
  ConsolidateOptions options;
  RankOptions ranks;
};

struct VerifyCommand {
  std::string source;
  std::vector<std::string> files_in;
  int world_size = 0;
  RankOptions ranks;
};

enum class ShowPart : std::uint8_t { entries, chunks, objects, files, tree };

struct InspectCommand {
  std::string source;
  std::vector<std::string> files_in;
  bool keys = false;
  bool zero_terminated = false;
  bool exact_bytes = false;
  std::set<ShowPart> show;  ///< empty: the command's choice
  SortBy sort = SortBy::stored;
  std::vector<std::string> keep;
  std::vector<std::string> exclude;
};

/// Text to print instead of running a command: --help, --version.
struct PrintCommand {
  std::string text;
};

struct CommandLine {
  GlobalOptions global;
  std::string command;  ///< "consolidate", "inspect", "verify"; known even when parsing failed, for the JSON document
  std::variant<PrintCommand, ConsolidateCommand, InspectCommand, VerifyCommand> run;
};

/// Throws Error(usage). `line.global` and `line.command` are set as far as they were understood, also then.
void parse_command_line(int argc, const char* const* argv, CommandLine& line);

}  // namespace fsdpckpt
