#include "dist/rank_environment.h"

#include <fsdpckpt/error.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/text.h"

namespace fsdpckpt {
namespace {

constexpr std::uint64_t kMaxWorldSize = 65536;
constexpr std::uint64_t kMaxPort = 65535;
constexpr std::uint64_t kFirstPort = 20000;  // of those that are made up where a launcher gives none
constexpr std::uint64_t kPorts = 20000;
constexpr const char* kThisHost = "127.0.0.1";
constexpr const char* kControl = "FSDPCKPT_CONTROL";

bool is_set(const GetVariable& get, const char* variable) { return get(variable) != nullptr; }

/// Where a variable may be missing, an empty one counts as missing.
std::string optional_text(const GetVariable& get, const char* variable) {
  const char* value = get(variable);
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const char* variable, const std::string& value, std::string_view expected) {
  throw Error(ErrorKind::usage, cat(variable, " is ", quote(value), ": ", expected, " was expected"));
}

/// `partner` says nothing without `variable`.
std::string required_text(const GetVariable& get, const char* variable, const char* partner) {
  const char* value = get(variable);
  if (value == nullptr) throw Error(ErrorKind::usage, cat(variable, " is not set: ", partner, " needs it"));
  return value;
}

struct Range {
  std::uint64_t low;
  std::uint64_t high;
  std::string text = cat("a number from ", low, " to ", high);
};

/// Digits only: no sign, no space.
std::uint64_t number(const char* variable, const std::string& value, const Range& range) {
  std::uint64_t result = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  if (error != std::errc{} || stop != end || result < range.low || result > range.high) {
    refuse(variable, value, range.text);
  }
  return result;
}

std::uint64_t required_number(const GetVariable& get, const char* variable, const char* partner, const Range& range) {
  return number(variable, required_text(get, variable, partner), range);
}

std::uint16_t port_number(const std::string& value) {
  return static_cast<std::uint16_t>(number("MASTER_PORT", value, {1, kMaxPort}));
}

/// MASTER_PORT, or a port that every rank makes up alike from what only this run has.
std::uint16_t port_or(const GetVariable& get, std::uint64_t of_this_run) {
  const std::string port = optional_text(get, "MASTER_PORT");
  return port.empty() ? static_cast<std::uint16_t>(kFirstPort + of_this_run % kPorts) : port_number(port);
}

/// FNV-1a, 64 bits: std::hash may differ from one host's library to another's.
std::uint64_t fixed_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The variables that every launcher has in some form.
struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;  ///< null where nobody asks for it
};

void complete_own(const GetVariable& get, const Names& names, RankEnvironment& world) {
  world.control = static_cast<int>(required_number(get, kControl, names.rank, {0, std::numeric_limits<int>::max()}));
  world.address = kThisHost;
  world.run = required_text(get, "FSDPCKPT_RUN", kControl);
}

/// torchrun, and whatever else sets the variables of torch.distributed's env:// without an agent.
void complete_torchrun(const GetVariable& get, const Names& names, RankEnvironment& world) {
  world.address = required_text(get, "MASTER_ADDR", names.rank);
  if (world.address.empty()) refuse("MASTER_ADDR", world.address, "the host of rank 0");
  world.port = port_number(required_text(get, "MASTER_PORT", names.rank));
  world.agent_store = optional_text(get, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  const std::string restarts = optional_text(get, "TORCHELASTIC_RESTART_COUNT");
  world.run = cat(optional_text(get, "TORCHELASTIC_RUN_ID"), ".", restarts.empty() ? "0" : restarts);
}

/// The first number of "3-5,9", with its zeros, or "" when there is none.
std::string_view first_number(std::string_view ranges) {
  const std::string_view first = ranges.substr(0, ranges.find_first_of(",-"));
  return first.find_first_not_of("0123456789") == std::string_view::npos ? first : "";
}

/// The first host of Slurm's short form of a list: "node3" of "node[3-5,9],gpu1"; a name may have several brackets.
/// Empty when it is malformed.
std::string first_host(std::string_view list) {
  std::string host;
  for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
    if (list[at] == ']') return "";
    if (list[at] != '[') {
      host += list[at];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (close == std::string_view::npos) return "";
    const std::string_view first = first_number(list.substr(at + 1, close - at - 1));
    if (first.empty()) return "";
    host += first;
    at = close;
  }
  return host;
}

/// Task 0 runs on the step's first host, with --distribution=arbitrary too: the list then keeps the user's order.
/// SLURM_SRUN_COMM_HOST and SLURM_LAUNCH_NODE_IPADDR are the host of srun, which may run no task at all.
std::string slurm_address(const GetVariable& get, const Names& names) {
  static constexpr const char* kHosts = "SLURM_STEP_NODELIST";
  if (std::string address = optional_text(get, "MASTER_ADDR"); !address.empty()) return address;
  const std::string hosts = required_text(get, kHosts, names.size);
  std::string host = first_host(hosts);
  if (host.empty()) refuse(kHosts, hosts, "a list of hosts");
  return host;
}

void complete_slurm(const GetVariable& get, const Names& names, RankEnvironment& world) {
  const Range id{0, std::numeric_limits<std::uint32_t>::max()};
  const std::uint64_t job = required_number(get, "SLURM_JOB_ID", names.size, id);
  const std::uint64_t step = required_number(get, "SLURM_STEP_ID", names.size, id);
  world.address = slurm_address(get, names);
  world.port = port_or(get, job * 7 + step);
  world.run = cat(job, ".", step);
}

bool is_one_host(const GetVariable& get, const Names& names, int world_size) {
  if (!is_set(get, names.local_size)) return false;
  const auto size = static_cast<std::uint64_t>(world_size);
  return required_number(get, names.local_size, names.size, {1, size, cat("a number from 1 to ", names.size)}) == size;
}

/// MPI's launchers do not tell the host of rank 0, but they tell whether there is only one host.
void complete_mpi(const GetVariable& get, const Names& names, RankEnvironment& world, std::string_view example) {
  const bool one_host = is_one_host(get, names, world.world_size);
  world.address = optional_text(get, "MASTER_ADDR");
  world.port = port_or(get, fixed_hash(world.run));
  if (!world.address.empty()) return;
  if (!one_host) {
    throw Error(ErrorKind::usage, cat("MASTER_ADDR is not set, and ", name(world.launcher), " names no host of rank 0"),
                {}, cat("set MASTER_ADDR to the host of rank 0: ", example));
  }
  world.address = kThisHost;
}

void complete_openmpi(const GetVariable& get, const Names& names, RankEnvironment& world) {
  world.run = optional_text(get, "PMIX_NAMESPACE");
  if (world.run.empty()) world.run = optional_text(get, "OMPI_MCA_ess_base_jobid");
  complete_mpi(get, names, world, "mpirun -x MASTER_ADDR=HOST ...");
}

void complete_pmi(const GetVariable& get, const Names& names, RankEnvironment& world) {
  world.run = optional_text(get, "PMI_JOBID");
  complete_mpi(get, names, world, "MASTER_ADDR=HOST mpiexec ...");
}

struct Launcher {
  RankLauncher launcher;
  Names names;
  bool (*is_present)(const GetVariable& get, const Names& names);
  void (*complete)(const GetVariable& get, const Names& names, RankEnvironment& world);
};

bool is_own(const GetVariable& get, const Names&) { return is_set(get, kControl); }

/// One of the two is enough, to tell that the other is missing.
bool is_rank_or_size_set(const GetVariable& get, const Names& names) {
  return is_set(get, names.rank) || is_set(get, names.size);
}

/// SLURM_PROCID and SLURM_NTASKS are there in a batch script as well, where no srun ran. mpirun and mpiexec in a
/// batch script start one daemon on each other host with srun, and the ranks there inherit the daemon's variables.
bool is_slurm_task(const GetVariable& get, const Names& names) {
  const bool inherited =
      is_set(get, "OMPI_COMM_WORLD_SIZE") || (is_set(get, "PMI_SIZE") && is_set(get, "MPI_LOCALRANKID"));
  return is_set(get, names.size) && !inherited;
}

bool is_pals(const GetVariable& get, const Names& names) {
  return is_set(get, names.local_rank) && !is_set(get, "MPI_LOCALRANKID") && is_rank_or_size_set(get, names);
}

/// In the order in which they are asked. PMI has two dialects: PALS's (Cray MPICH) and Hydra's (MPICH, Intel MPI).
constexpr Launcher kLaunchers[] = {
    {RankLauncher::own, {"FSDPCKPT_RANK", "FSDPCKPT_WORLD_SIZE", "FSDPCKPT_LOCAL_RANK", nullptr}, is_own, complete_own},
    {RankLauncher::torchrun, {"RANK", "WORLD_SIZE", "LOCAL_RANK", nullptr}, is_rank_or_size_set, complete_torchrun},
    {RankLauncher::slurm,
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
     is_slurm_task,
     complete_slurm},
    {RankLauncher::openmpi,
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
     is_rank_or_size_set,
     complete_openmpi},
    {RankLauncher::pmi, {"PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"}, is_pals, complete_pmi},
    {RankLauncher::pmi,
     {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
     is_rank_or_size_set,
     complete_pmi},
};

/// The rank and the size of the world; a bad or missing one is an error in a world of one too.
RankEnvironment read_world(const GetVariable& get, const Launcher& from) {
  RankEnvironment world;
  world.launcher = from.launcher;
  const Names& names = from.names;
  const std::uint64_t size = required_number(get, names.size, names.rank, {1, kMaxWorldSize});
  world.world_size = static_cast<int>(size);
  const Range ranks{0, size - 1, cat("a number from 0 to ", names.size, " - 1")};
  world.rank = static_cast<int>(required_number(get, names.rank, names.size, ranks));
  if (size == 1 && from.launcher != RankLauncher::own) return {};
  if (is_set(get, names.local_rank))  // some that start one rank a host leave it out
    world.local_rank = static_cast<int>(required_number(get, names.local_rank, names.rank, ranks));
  from.complete(get, names, world);
  return world;
}

}  // namespace

RankEnvironment read_rank_environment(const GetVariable& get) {
  for (const Launcher& launcher : kLaunchers) {
    if (!launcher.is_present(get, launcher.names)) continue;
    RankEnvironment world = read_world(get, launcher);
    if (world.launcher != RankLauncher::none) return world;
  }
  return {};
}

RankEnvironment read_rank_environment() {
  return read_rank_environment([](const char* variable) -> const char* { return std::getenv(variable); });
}

std::string_view name(RankLauncher launcher) {
  switch (launcher) {
    case RankLauncher::none:
      return "no launcher";
    case RankLauncher::own:
      return "fsdpckpt";
    case RankLauncher::torchrun:
      return "torchrun";
    case RankLauncher::slurm:
      return "srun";
    case RankLauncher::openmpi:
      return "mpirun";
    case RankLauncher::pmi:
      return "mpiexec";
  }
  return "no launcher";
}

}  // namespace fsdpckpt
