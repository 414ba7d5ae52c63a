// Wrong calls in this program's words: values that are not among those expected, and what CLI11 found.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace fsdpckpt {

/// Throws Error(usage) "WHAT is 'text': a, b or c were expected".
[[noreturn]] void throw_no_choice(std::string_view text, std::string_view what,
                                  const std::vector<std::string_view>& words);

/// The value that `text` stands for; `what` is the option or variable it came from.
template <class T, std::size_t N>
T choose(const std::array<std::pair<std::string_view, T>, N>& choices, std::string_view text, std::string_view what) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    words.push_back(word);
  }
  throw_no_choice(text, what, words);
}

/// A number from 1 to `most`; throws Error(usage).
unsigned parse_count(std::string_view text, std::string_view what, unsigned most);

/// "300" and "300s" are seconds, "5m", "2h", "500ms"; at most a week. Throws Error(usage).
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what);

/// A number of threads; throws Error(usage).
unsigned parse_threads(std::string_view text, std::string_view what);

/// "fsdpckpt help COMMAND", the hint when there is no better one.
std::string help_command(std::string_view command);

bool is_command(std::string_view word);

/// Throws Error(usage) for a command that does not exist, naming the nearest one.
[[noreturn]] void throw_unknown_command(const std::string& word);

/// Throws Error(usage) for what CLI11 could not parse; `app` is the program's, `command` the one that was given.
[[noreturn]] void explain(const CLI::ParseError& error, const CLI::App& app, const std::string& command);

}  // namespace fsdpckpt
