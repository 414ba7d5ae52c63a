// What every command prints: the answer on stdout, checked; notes and warnings on stderr.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace fsdpckpt {

/// Writes the answer to stdout. Throws Error(io) when stdout cannot take it; a reader that closed the pipe is no error.
void print_answer(const std::string& text);

/// Writes a JSON document, one line, to stdout; see print_answer.
void print_json(const nlohmann::ordered_json& document);

/// "fsdpckpt: note: ..." on stderr, one a line; nothing with --quiet or --json.
void print_notes(const GlobalOptions& options, const std::vector<std::string>& notes);

/// True when progress is drawn: a terminal on stderr, and neither --quiet, --json nor TERM=dumb, unless asked for.
bool wants_progress(const GlobalOptions& options);

}  // namespace fsdpckpt
