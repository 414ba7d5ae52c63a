// Which rank of which world this process is, by what its launcher left in the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fsdpckpt {

/// Who started this process as a rank.
enum class RankLauncher : std::uint8_t { none, own, torchrun, slurm, openmpi, pmi };

struct RankEnvironment {
  RankLauncher launcher = RankLauncher::none;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;        ///< among the ranks of this host
  std::string address;       ///< of the host that serves the store: rank 0's, or torchrun's agent's
  std::uint16_t port = 0;    ///< of the store; 0: rank 0 takes one from the system and tells it (own launcher)
  bool agent_store = false;  ///< torchrun's agent serves a store at `address`:`port` already
  std::string run;           ///< the same text for all ranks of a run and for no other run that is alive
  int control = -1;          ///< descriptor of the launcher's control channel (own launcher)
};

/// A variable's value, or null.
using GetVariable = std::function<const char*(const char*)>;

/// Reads torchrun's, Slurm's, Open MPI's and PMI's variables, in that order, after our own launcher's; the first with a
/// world of more than one wins, and only our own launcher may have a world of one. Slurm's count only in a step of
/// srun, and not in ranks of mpirun or mpiexec, whose daemons are such steps. torchrun stands for every launcher that
/// sets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT. Throws Error(usage) naming the variable that is
/// missing, is no number or does not fit the others; so too when MPI has several hosts and MASTER_ADDR is not set.
RankEnvironment read_rank_environment(const GetVariable& get);
/// From this process's environment.
RankEnvironment read_rank_environment();

/// "torchrun", "srun", "mpirun", ... for messages.
std::string_view name(RankLauncher launcher);

}  // namespace fsdpckpt
