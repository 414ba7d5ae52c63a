#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "cli/help.h"
#include "cli/usage.h"
#include "model/rename.h"

namespace fsdpckpt {
namespace {

constexpr std::array<std::pair<std::string_view, When>, 3> kWhen = {
    {{"auto", When::automatic}, {"always", When::always}, {"never", When::never}}};
constexpr std::array<std::pair<std::string_view, ObjectPolicy>, 4> kPolicies = {{{"keep", ObjectPolicy::keep},
                                                                                 {"safe", ObjectPolicy::safe},
                                                                                 {"all", ObjectPolicy::all},
                                                                                 {"drop", ObjectPolicy::drop}}};
constexpr std::array<std::pair<std::string_view, ExchangeMode>, 2> kExchange = {
    {{"auto", ExchangeMode::automatic}, {"always", ExchangeMode::always}}};
constexpr std::array<std::pair<std::string_view, ShowPart>, 5> kShow = {{{"entries", ShowPart::entries},
                                                                         {"chunks", ShowPart::chunks},
                                                                         {"objects", ShowPart::objects},
                                                                         {"files", ShowPart::files},
                                                                         {"tree", ShowPart::tree}}};
constexpr std::array<std::pair<std::string_view, SortBy>, 5> kSort = {{{"name", SortBy::name},
                                                                       {"size", SortBy::size},
                                                                       {"dtype", SortBy::dtype},
                                                                       {"shape", SortBy::shape},
                                                                       {"chunks", SortBy::chunks}}};

constexpr unsigned kMostRanks = 1024;
constexpr unsigned kLargestWorld = 65536;

/// Two options that exclude each other.
struct Exclusion {
  std::string_view command, a, b;
};

/// The name in the table for a DST that is "-".
constexpr std::string_view kStdoutTarget = "DST '-'";

// Judged before a file is opened; one test a row.
constexpr std::array<Exclusion, 10> kExclusions = {{
    {"", "--quiet", "--verbose"},
    {"inspect", "--keys", "--json"},
    {"inspect", "--keys", "--show"},
    {"inspect", "--keys", "--bytes"},
    {"consolidate", "--dry-run", "--verify"},
    {"consolidate", "DST", "--output"},
    {"consolidate", kStdoutTarget, "--json"},
    {"consolidate", kStdoutTarget, "--verify"},
    {"consolidate", kStdoutTarget, "--force"},
    {"consolidate", kStdoutTarget, "--ranks"},
}};

/// Everything CLI11 fills in.
struct Parsed {
  bool help = false, version = false;
  std::string help_command;
  ConsolidateCommand consolidate;
  InspectCommand inspect;
  std::string color = "auto", progress = "auto", objects = "keep", sort;
  VerifyCommand verify;
  std::string output, threads, memory_limit, ranks, timeout, world_size, exchange = "auto";
  std::vector<std::string> show;
  bool no_fsync = false, no_checksum = false;
};

class Parser {
 public:
  explicit Parser(CommandLine& line) : line_(line) {
    app_.set_help_flag();
    app_.fallthrough();
    app_.require_subcommand(0, 1);
    add_globals();
    add_consolidate();
    add_inspect();
    add_verify();
    app_.add_subcommand("help")->add_option("COMMAND", parsed_.help_command);
  }

  void parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      line_.command = command();
      line_.global.json |= std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
      if (parsed_.help) return print(help_text(command()));
      explain(error, app_, line_.command);
    }
    line_.command = command();
    if (parsed_.help || line_.command == "help") return print_help();
    if (parsed_.version) return print(line_.global.verbose ? kVersionVerbose : kVersion);
    if (line_.command.empty()) throw Error(ErrorKind::usage, "no command was given", {}, "fsdpckpt help");
    check_exclusions();
    finish_globals();
    if (line_.command == "inspect")
      finish_inspect();
    else if (line_.command == "verify")
      finish_verify();
    else
      finish_consolidate();
  }

 private:
  static constexpr std::string_view kVersion = "fsdpckpt " FSDPCKPT_VERSION "\n";
  static constexpr std::string_view kVersionVerbose = "fsdpckpt " FSDPCKPT_VERSION
                                                      "\nreads:  DCP directories of torch 2.0 to 2.15, meta.pt, torch "
                                                      "files (zip)\nwrites: torch files (zip)\nLibTorch: not needed\n";

  void print(std::string_view text) { line_.run = PrintCommand{std::string(text)}; }

  void print_help() {
    const std::string& about = parsed_.help_command;
    if (line_.command != "help") return print(help_text(line_.command));
    if (!about.empty() && !is_command(about)) throw_unknown_command(about);
    print(help_text(about));
  }

  void add_globals() {
    app_.add_flag("-h,--help", parsed_.help);
    app_.add_flag("--version", parsed_.version);
    app_.add_flag("-q,--quiet", line_.global.quiet);
    app_.add_flag("-v,--verbose", line_.global.verbose);
    app_.add_flag("--json", line_.global.json);
    app_.add_option("--color", parsed_.color);
    app_.add_option("--progress", parsed_.progress);
    restrict_values(app_);
  }

  void add_consolidate() {
    CLI::App* sub = app_.add_subcommand("consolidate");
    ConsolidateOptions& options = parsed_.consolidate.options;
    sub->add_option("SRC", parsed_.consolidate.source);
    sub->add_option("DST", parsed_.consolidate.target);
    sub->add_option("-o,--output,--output_file", parsed_.output);  // the last is Lightning's spelling
    sub->add_option("-k,--key", options.keep)->take_all()->expected(1);
    sub->add_option("-x,--exclude", options.exclude)->take_all()->expected(1);
    sub->add_flag("--model-only", options.model_only);
    sub->add_flag("--clean", options.rename.clean);
    sub->add_option("--strip-prefix", options.rename.strip_prefix);
    sub->add_option("--rename", options.rename.replace)->take_all()->expected(1);
    sub->add_option("--add-prefix", options.rename.add_prefix);
    sub->add_option("--files-in", parsed_.consolidate.files_in)->take_all()->expected(1);
    sub->add_option("--objects", parsed_.objects);
    sub->add_flag("--keep-device", options.keep_device);
    sub->add_option("--ranks", parsed_.ranks);
    sub->add_option("--timeout", parsed_.timeout);
    sub->add_option("--exchange", parsed_.exchange);
    sub->add_option("-j,--threads", parsed_.threads);
    sub->add_option("--memory-limit", parsed_.memory_limit);
    sub->add_flag("-n,--dry-run", options.dry_run);
    sub->add_flag("-f,--force", options.replace);
    sub->add_flag("--verify", options.verify);
    sub->add_flag("--no-fsync", parsed_.no_fsync);
    sub->add_flag("--no-checksum", parsed_.no_checksum);
    restrict_values(*sub);
  }

  void add_inspect() {
    CLI::App* sub = app_.add_subcommand("inspect");
    InspectCommand& inspect = parsed_.inspect;
    sub->add_option("SRC", inspect.source);
    sub->add_flag("--keys", inspect.keys);
    sub->add_flag("-0,--null", inspect.zero_terminated);
    sub->add_flag("--bytes", inspect.exact_bytes);
    sub->add_option("--show", parsed_.show)->take_all()->expected(1);
    sub->add_option("--files-in", inspect.files_in)->take_all()->expected(1);
    sub->add_option("--sort", parsed_.sort);
    sub->add_option("-k,--key", inspect.keep)->take_all()->expected(1);
    sub->add_option("-x,--exclude", inspect.exclude)->take_all()->expected(1);
    restrict_values(*sub);
  }

  void add_verify() {
    CLI::App* sub = app_.add_subcommand("verify");
    sub->add_option("SRC", parsed_.verify.source);
    sub->add_option("--world-size", parsed_.world_size);
    sub->add_option("--ranks", parsed_.ranks);
    sub->add_option("--timeout", parsed_.timeout);
    sub->add_option("--files-in", parsed_.verify.files_in)->take_all()->expected(1);
    restrict_values(*sub);
  }

  /// `--force=no` would be read as a wish that is easily misunderstood, and an option takes one value each time it is
  /// given: what follows is an argument.
  static void restrict_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
      option->allow_extra_args(false);
    }
  }

  [[nodiscard]] std::string command() const {
    const auto subcommands = app_.get_subcommands();
    return subcommands.empty() ? std::string() : subcommands.front()->get_name();
  }

  [[nodiscard]] bool is_given(std::string_view option) const {
    if (option == kStdoutTarget)
      return parsed_.consolidate.target == kStandardOutput || parsed_.output == kStandardOutput;
    const auto in = [&](const CLI::App* app) {
      const CLI::Option* found = app->get_option_no_throw(std::string(option));
      return found != nullptr && found->count() > 0;
    };
    const auto subcommands = app_.get_subcommands();
    return in(&app_) || (!subcommands.empty() && in(subcommands.front()));
  }

  void check_exclusions() const {
    for (const Exclusion& row : kExclusions) {
      if ((row.command.empty() || row.command == line_.command) && is_given(row.a) && is_given(row.b)) {
        throw Error(ErrorKind::usage, cat(row.a, " and ", row.b, " exclude each other"));
      }
    }
  }

  void check_source(const std::string& source) const {
    if (source.empty()) throw Error(ErrorKind::usage, "no SRC was given", {}, help_command(line_.command));
  }

  static void check_files_in(const std::vector<std::string>& directories) {
    if (std::ranges::find(directories, "") != directories.end())
      throw Error(ErrorKind::usage, "the name of a --files-in is empty");
  }

  void finish_globals() {
    line_.global.color = choose(kWhen, parsed_.color, "--color");
    line_.global.progress = choose(kWhen, parsed_.progress, "--progress");
  }

  void finish_inspect() {
    InspectCommand& command = parsed_.inspect;
    check_source(command.source);
    check_files_in(command.files_in);
    if (command.zero_terminated && !command.keys)
      throw Error(ErrorKind::usage, "-0 is for --keys only", {},
                  "fsdpckpt inspect --keys -0 " + shell_word(command.source));
    for (const std::string& list : parsed_.show) add_shown(list, command.show);
    if (is_given("--sort")) command.sort = choose(kSort, parsed_.sort, "--sort");
    line_.run = command;
  }

  static void add_shown(std::string_view list, std::set<ShowPart>& show) {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      show.insert(choose(kShow, list.substr(at, end - at), "--show"));
      at = end + 1;
    }
  }

  void finish_consolidate() {
    ConsolidateCommand& command = parsed_.consolidate;
    check_source(command.source);
    if (!parsed_.output.empty()) command.target = parsed_.output;
    check_target(command);
    check_files_in(command.files_in);
    const Renamer checked(command.options.rename);
    command.options.objects = choose(kPolicies, parsed_.objects, "--objects");
    if (const auto threads = value_of(parsed_.threads, "--threads", "FSDPCKPT_THREADS"))
      command.options.threads = parse_threads(threads->text, threads->from);
    if (const auto limit = value_of(parsed_.memory_limit, "--memory-limit", "FSDPCKPT_MEMORY_LIMIT"))
      command.options.memory_limit = parse_size(limit->text, limit->from);
    command.options.exchange = choose(kExchange, parsed_.exchange, "--exchange");
    finish_ranks(command.ranks);
    command.options.sync = !parsed_.no_fsync;
    command.options.check_crc = !parsed_.no_checksum;
    line_.run = command;
  }

  void finish_ranks(RankOptions& ranks) const {
    if (is_given("--ranks")) ranks.count = static_cast<int>(parse_count(parsed_.ranks, "--ranks", kMostRanks));
    if (const auto timeout = value_of(parsed_.timeout, "--timeout", "FSDPCKPT_TIMEOUT"))
      ranks.timeout = parse_duration(timeout->text, timeout->from);
  }

  void finish_verify() {
    VerifyCommand& command = parsed_.verify;
    check_source(command.source);
    check_files_in(command.files_in);
    if (!is_given("--world-size"))
      throw Error(ErrorKind::usage, "no --world-size was given: how many FSDP ranks are to load it", {},
                  cat("fsdpckpt verify ", shell_word(command.source), " --world-size 8"));
    command.world_size = static_cast<int>(parse_count(parsed_.world_size, "--world-size", kLargestWorld));
    finish_ranks(command.ranks);
    if (command.ranks.count > command.world_size)
      throw Error(ErrorKind::usage,
                  cat("--ranks is ", command.ranks.count, ", more than --world-size ", command.world_size));
    line_.run = command;
  }

  void check_target(ConsolidateCommand& command) const {
    if (command.target.empty() && (is_given("DST") || is_given("--output")))
      throw Error(ErrorKind::usage, "the name of DST is empty");
    if (command.target.empty()) command.target = default_target(command.source);
    if (command.target.ends_with(".safetensors") || command.target.ends_with("/")) {
      throw Error(ErrorKind::usage, "only torch files can be written: the name must not end in .safetensors or /",
                  {.path = command.target});
    }
  }

  struct Given {
    std::string_view text, from;
  };
  /// The option's value or else the variable's; an empty variable is as good as none.
  [[nodiscard]] std::optional<Given> value_of(const std::string& given, const char* option,
                                              const char* variable) const {
    if (is_given(option)) return Given{given, option};
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return Given{value, variable};
  }

  /// SRC.pt, beside SRC.
  static std::string default_target(std::string source) {
    while (source.size() > 1 && source.ends_with('/')) source.pop_back();
    if (source == "." || source == ".." || source.ends_with("/.") || source.ends_with("/.."))
      source = std::filesystem::weakly_canonical(source).string();
    return source + ".pt";
  }

  CommandLine& line_;
  Parsed parsed_;
  CLI::App app_;
};

}  // namespace

void parse_command_line(int argc, const char* const* argv, CommandLine& line) { Parser(line).parse(argc, argv); }

}  // namespace fsdpckpt
