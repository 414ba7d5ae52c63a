// What every command prints: the answer on stdout, checked; notes and warnings on stderr.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

namespace fsdpckpt {

/// Writes the answer to stdout. Throws Error(io) when stdout cannot take it; a reader that closed the pipe is no error.
void print_answer(std::string_view text);

/// Characters in a line when stdout is a terminal: COLUMNS, or else what the terminal says. 0 when it is none, or tells
/// nothing. Throws Error(usage) for a COLUMNS that is no number.
std::size_t terminal_width();

/// Writes a JSON document, one line, to stdout; see print_answer.
void print_json(const nlohmann::ordered_json& document);

/// "fsdpckpt: note: ..." on stderr, one a line; nothing with --quiet or --json.
void print_notes(const GlobalOptions& options, const std::vector<std::string>& notes);

/// True when progress is drawn: a terminal on stderr, and neither --quiet, --json nor TERM=dumb, unless asked for.
bool wants_progress(const GlobalOptions& options);

}  // namespace fsdpckpt
