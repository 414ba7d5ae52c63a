#include "cli/usage.h"

#include <fsdpckpt/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::array<std::string_view, 4> kCommands = {"consolidate", "inspect", "verify", "help"};
constexpr unsigned kMostThreads = 1024;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  const auto add = [&](const CLI::App* from) {
    for (const CLI::Option* option : from->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  add(&app);
  for (const CLI::App* sub : app.get_subcommands()) add(sub);
  return names;
}

[[noreturn]] void throw_unknown_option(const std::string& option, const CLI::App& app, const std::string& command) {
  const std::vector<std::string> names = option_names(app);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(option.substr(0, option.find('=')), views);
  throw Error(ErrorKind::usage, cat("unknown option ", quote(option)), {},
              near.empty() ? help_command(command) : std::string(near));
}

/// What CLI11 says, in plain words; its texts begin with the option's name.
std::string words_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  std::string option = text.substr(0, text.find_first_of(": "));
  if (!option.starts_with('-')) option = "--" + option;  // as CLI11 2.1 names a flag
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (says("flag override")) return cat(option, " takes no value");
  if (says("At Most")) return cat(option, " was given more than once");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return cat(option, " needs a value");
  return cat("the command line cannot be understood: ", escape(text));
}

}  // namespace

void throw_no_choice(std::string_view text, std::string_view what, const std::vector<std::string_view>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i)
    list += cat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  const std::string_view near = nearest(text, words);
  throw Error(ErrorKind::usage, cat(what, " is ", quote(text), ": ", list, " were expected"), {},
              near.empty() ? "" : cat(what.starts_with('-') ? cat(what, " ") : "", near));
}

unsigned parse_count(std::string_view text, std::string_view what, unsigned most) {
  unsigned count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > most)
    throw Error(ErrorKind::usage, cat(what, " is ", quote(text), ": a number from 1 to ", most, " was expected"));
  return count;
}

unsigned parse_threads(std::string_view text, std::string_view what) { return parse_count(text, what, kMostThreads); }

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
      {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60'000}, {"h", 3'600'000}}};
  constexpr std::int64_t kLongest = 7LL * 24 * 3'600'000;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const auto* known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, std::int64_t>::first);
  if (error == std::errc{} && known != kUnits.end() && number > 0 && number <= kLongest / known->second)
    return std::chrono::milliseconds(number * known->second);
  throw Error(ErrorKind::usage, cat(what, " is ", quote(text), ": a time such as 300, 90s, 5m or 500ms was expected"));
}

std::string help_command(std::string_view command) {
  return command.empty() ? "fsdpckpt help" : cat("fsdpckpt help ", command);
}

bool is_command(std::string_view word) { return std::ranges::find(kCommands, word) != kCommands.end(); }

void throw_unknown_command(const std::string& word) {
  const std::string_view near = nearest(word, kCommands);
  std::error_code ignored;
  std::string hint = help_command("");
  if (!near.empty())
    hint = cat("fsdpckpt ", near);
  else if (std::filesystem::exists(word, ignored))
    hint = cat("fsdpckpt inspect ", shell_word(word));
  throw Error(ErrorKind::usage, cat("unknown command ", quote(word)), {}, hint);
}

void explain(const CLI::ParseError& error, const CLI::App& app, const std::string& command) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr)
    throw Error(ErrorKind::usage, words_of(error), {}, help_command(command));
  const std::vector<std::string> extras = app.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front();
  if (extra.starts_with("-") && extra.size() > 1) throw_unknown_option(extra, app, command);
  if (command.empty()) throw_unknown_command(extra);
  throw Error(ErrorKind::usage, cat("one argument too many: ", quote(extra)), {}, help_command(command));
}

}  // namespace fsdpckpt
