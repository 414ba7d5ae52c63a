#include "cli/command_line.h"

#include "base/text.h"
#include "cli/help.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

namespace fsdpckpt {
namespace {

const std::map<std::string, When> kWhen = {{"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
const std::map<std::string, ObjectPolicy> kPolicies = {
    {"keep", ObjectPolicy::keep}, {"safe", ObjectPolicy::safe}, {"all", ObjectPolicy::all}, {"drop", ObjectPolicy::drop}};

/// Two options that exclude each other.
struct Exclusion {
  std::string_view command, a, b;
};

// Judged before a file is opened; one test a row.
constexpr std::array<Exclusion, 6> kExclusions = {{
    {"", "--quiet", "--verbose"},
    {"inspect", "--keys", "--json"},
    {"inspect", "--keys", "--show"},
    {"inspect", "--keys", "--bytes"},
    {"consolidate", "--dry-run", "--verify"},
    {"consolidate", "DST", "--output"},
}};

/// Everything CLI11 fills in.
struct Parsed {
  bool help = false, version = false;
  std::string help_command;
  ConsolidateCommand consolidate;
  InspectCommand inspect;
  std::string output, memory_limit;
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
    app_.add_subcommand("help")->add_option("COMMAND", parsed_.help_command);
  }

  void parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      line_.command = command();
      if (parsed_.help) return print(help_text(command()));
      explain(error);
    }
    line_.command = command();
    if (parsed_.help || line_.command == "help") return print(help_text(line_.command == "help" ? parsed_.help_command : line_.command));
    if (parsed_.version) return print(line_.global.verbose ? kVersionVerbose : kVersion);
    if (line_.command.empty()) throw Error(ErrorKind::usage, "no command was given", {}, "fsdpckpt help");
    check_exclusions();
    finish();
  }

 private:
  static constexpr std::string_view kVersion = "fsdpckpt " FSDPCKPT_VERSION "\n";
  static constexpr std::string_view kVersionVerbose =
      "fsdpckpt " FSDPCKPT_VERSION "\nreads:  DCP directories of torch 2.0 to 2.15, meta.pt, torch files (zip)\nwrites: torch files (zip)\nLibTorch: not needed\n";

  void print(std::string_view text) { line_.run = PrintCommand{std::string(text)}; }

  void add_globals() {
    app_.add_flag("-h,--help", parsed_.help);
    app_.add_flag("--version", parsed_.version);
    app_.add_flag("-q,--quiet", line_.global.quiet);
    app_.add_flag("-v,--verbose", line_.global.verbose);
    app_.add_flag("--json", line_.global.json);
    app_.add_option("--color", line_.global.color)->transform(CLI::CheckedTransformer(kWhen).description("auto|always|never"));
    app_.add_option("--progress", line_.global.progress)->transform(CLI::CheckedTransformer(kWhen).description("auto|always|never"));
  }

  void add_consolidate() {
    CLI::App* sub = app_.add_subcommand("consolidate");
    ConsolidateOptions& options = parsed_.consolidate.options;
    sub->add_option("SRC", parsed_.consolidate.source)->required();
    sub->add_option("DST", parsed_.consolidate.target);
    sub->add_option("-o,--output,--output_file", parsed_.output);  // the last is Lightning's spelling
    sub->add_option("-k,--key", options.keep)->take_all()->expected(1);
    sub->add_option("-x,--exclude", options.exclude)->take_all()->expected(1);
    sub->add_flag("--model-only", options.model_only);
    sub->add_option("--objects", options.objects)->transform(CLI::CheckedTransformer(kPolicies).description("keep|safe|all|drop"));
    sub->add_flag("--keep-device", options.keep_device);
    sub->add_option("-j,--threads", options.threads)->check(CLI::Range(1U, 1024U))->envname("FSDPCKPT_THREADS");
    sub->add_option("--memory-limit", parsed_.memory_limit)->envname("FSDPCKPT_MEMORY_LIMIT");
    sub->add_flag("-n,--dry-run", options.dry_run);
    sub->add_flag("-f,--force", options.replace);
    sub->add_flag("--verify", options.verify);
    sub->add_flag("--no-fsync", parsed_.no_fsync);
    sub->add_flag("--no-checksum", parsed_.no_checksum);
  }

  void add_inspect() {
    CLI::App* sub = app_.add_subcommand("inspect");
    InspectCommand& inspect = parsed_.inspect;
    sub->add_option("SRC", inspect.source)->required();
    sub->add_flag("--keys", inspect.keys);
    sub->add_flag("-0,--null", inspect.zero_terminated)->needs("--keys");
    sub->add_flag("--bytes", inspect.exact_bytes);
    sub->add_option("--show", inspect.show)->delimiter(',')->expected(1)->check(CLI::IsMember({"entries", "objects", "chunks", "files"}));
    sub->add_option("-k,--key", inspect.keep)->take_all()->expected(1);
    sub->add_option("-x,--exclude", inspect.exclude)->take_all()->expected(1);
  }

  [[nodiscard]] std::string command() const {
    const auto subcommands = app_.get_subcommands();
    return subcommands.empty() ? std::string() : subcommands.front()->get_name();
  }

  /// CLI11's errors in this program's words, with the nearest command or option.
  [[noreturn]] void explain(const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) explain_extra(app_.remaining(true));
    std::string text = error.what();
    std::ranges::replace(text, '\n', ' ');
    if (!text.empty()) text[0] = static_cast<char>(text.starts_with("SRC") || text.starts_with("DST") ? text[0] : std::tolower(text[0]));
    const std::string name = command();
    throw Error(ErrorKind::usage, escape(text), {}, name.empty() ? "fsdpckpt help" : cat("fsdpckpt help ", name));
  }

  [[noreturn]] void explain_extra(const std::vector<std::string>& extras) {
    const std::string extra = extras.empty() ? "" : extras.front();
    const std::string name = command();
    const bool is_option = extra.starts_with("-") && extra.size() > 1;
    const std::vector<std::string> candidates = is_option ? option_names() : std::vector<std::string>{"consolidate", "inspect", "help"};
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    const std::string_view near = nearest(extra.substr(0, extra.find('=')), views);
    const std::string help = name.empty() ? "fsdpckpt help" : cat("fsdpckpt help ", name);
    if (is_option) throw Error(ErrorKind::usage, cat("unknown option ", quote(extra)), {}, near.empty() ? help : std::string(near));
    if (!name.empty()) throw Error(ErrorKind::usage, cat("one argument too many: ", quote(extra)), {}, help);
    throw Error(ErrorKind::usage, cat("unknown command ", quote(extra)), {}, near.empty() ? help : cat("fsdpckpt ", near));
  }

  [[nodiscard]] std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    const auto add = [&](const CLI::App* app) {
      for (const CLI::Option* option : app->get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      }
    };
    add(&app_);
    for (const CLI::App* sub : app_.get_subcommands()) add(sub);
    return names;
  }

  [[nodiscard]] bool is_given(std::string_view option) const {
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

  void finish() {
    if (line_.command == "inspect") {
      line_.run = parsed_.inspect;
      return;
    }
    ConsolidateCommand& command = parsed_.consolidate;
    if (!parsed_.output.empty()) command.target = parsed_.output;
    if (command.target.empty()) command.target = default_target(command.source);
    if (command.target.ends_with(".safetensors") || command.target.ends_with("/")) {
      throw Error(ErrorKind::usage, "only torch files can be written: the name must not end in .safetensors or /", {.path = command.target});
    }
    if (!parsed_.memory_limit.empty()) command.options.memory_limit = parse_size(parsed_.memory_limit, "--memory-limit");
    command.options.sync = !parsed_.no_fsync;
    command.options.check_crc = !parsed_.no_checksum;
    line_.run = command;
  }

  /// SRC.pt, beside SRC.
  static std::string default_target(std::string source) {
    while (source.size() > 1 && source.ends_with('/')) source.pop_back();
    if (source == "." || source == ".." || source.ends_with("/.") || source.ends_with("/..")) source = std::filesystem::weakly_canonical(source).string();
    return source + ".pt";
  }

  CommandLine& line_;
  Parsed parsed_;
  CLI::App app_;
};

}  // namespace

void parse_command_line(int argc, const char* const* argv, CommandLine& line) { Parser(line).parse(argc, argv); }

}  // namespace fsdpckpt
