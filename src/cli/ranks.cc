#include "cli/ranks.h"

#include <fsdpckpt/error.h>
#include <fsdpckpt/open.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/exit_code.h"
#include "base/text.h"
#include "cli/signals.h"
#include "dist/launcher.h"
#include "dist/rank_environment.h"

namespace fsdpckpt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "fsdpckpt-rank";

/// LibTorch logs to stderr when it has to wait; what matters comes as an error.
void silence_libtorch() {
  ::setenv("GLOG_minloglevel", "3", 0);
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
}

/// Becomes the rank program, in this process: a launcher knows its ranks by their numbers.
[[noreturn]] void become_rank(char** argv) {
  const std::string program = rank_program();
  silence_libtorch();
  ::execv(program.c_str(), argv);
  throw Error(ErrorKind::io, cat("cannot start it: ", std::system_category().message(errno)), {.path = program});
}

int launch(int count, const RankOptions& ranks, int argc, char** argv) {
  silence_libtorch();
  return launch_ranks({.program = rank_program(),
                       .arguments = {argv + 1, argv + argc},
                       .ranks = count,
                       .timeout = ranks.timeout,
                       .stop = &install_signal_handlers()});
}

/// The round trip's FSDP ranks are carried by one process a core, unless said otherwise.
int processes_for(const VerifyCommand& command) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return command.ranks.count > 0 ? command.ranks.count : std::min(command.world_size, cores);
}

/// Throws Error(usage) for what does not go with a launcher's ranks.
void check_launcher(const CommandLine& line, const RankOptions& ranks, const RankEnvironment& environment) {
  const std::string theirs = cat(name(environment.launcher), "'s ", environment.world_size, " ranks");
  if (ranks.count > 0) throw Error(ErrorKind::usage, cat("--ranks and ", theirs, " exclude each other"));
  const auto* consolidate = std::get_if<ConsolidateCommand>(&line.run);
  if (consolidate != nullptr && consolidate->target == kStandardOutput)
    throw Error(ErrorKind::usage, cat("DST '-' and ", theirs, " exclude each other"));
}

/// Ranks on this machine see no more than this process does. Throws Error(input).
void check_is_there(const std::string& source) {
  std::error_code ignored;
  if (!fs::exists(source, ignored)) open_checkpoint(source);
}

/// A command that one process does is done by the first rank; a launcher's variables that make no sense are no matter.
std::optional<int> leave_to_first_rank() {
  try {
    if (read_rank_environment().rank > 0) return kExitDone;
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string rank_program() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& path : {folder / kProgram, folder / ".." / "libexec" / "fsdpckpt" / kProgram}) {
    if (::access(path.c_str(), X_OK) == 0) return path.lexically_normal().string();
  }
  throw Error(
      ErrorKind::usage, "this installation has no program for several ranks (fsdpckpt-rank)", {},
      "build it with LibTorch: packages libtorch-dev and libgloo-dev, or -DFSDPCKPT_TORCH=<site-packages>/torch");
}

const RankOptions* rank_options(const CommandLine& line) {
  if (const auto* command = std::get_if<ConsolidateCommand>(&line.run)) return &command->ranks;
  if (const auto* command = std::get_if<VerifyCommand>(&line.run)) return &command->ranks;
  return nullptr;
}

std::optional<int> run_by_ranks(const CommandLine& line, int argc, char** argv) {
  const RankOptions* ranks = rank_options(line);
  if (ranks == nullptr) return leave_to_first_rank();
  const RankEnvironment environment = read_rank_environment();
  if (environment.world_size > 1) {
    check_launcher(line, *ranks, environment);
    become_rank(argv);
  }
  const auto* verify = std::get_if<VerifyCommand>(&line.run);
  const int count = verify != nullptr ? processes_for(*verify) : ranks->count;
  if (count <= 1 && verify == nullptr) return std::nullopt;
  check_is_there(verify != nullptr ? verify->source : std::get<ConsolidateCommand>(line.run).source);
  return launch(count, *ranks, argc, argv);
}

}  // namespace fsdpckpt
