#include "dist/rank_environment.h"

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

using Variables = std::map<std::string, std::string>;

RankEnvironment read(const Variables& variables) {
  return read_rank_environment([&](const char* variable) {
    const auto found = variables.find(variable);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kOwn = {{"FSDPCKPT_RANK", "2"},
                        {"FSDPCKPT_WORLD_SIZE", "4"},
                        {"FSDPCKPT_LOCAL_RANK", "2"},
                        {"FSDPCKPT_RUN", "r1"},
                        {"FSDPCKPT_CONTROL", "5"}};
const Variables kLoop = {
    {"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "node7"}, {"MASTER_PORT", "29500"}};
// srun -N 2 -n 4 and what sbatch gave before; Slurm 22.05
const Variables kSlurm = {{"SLURM_PROCID", "3"},         {"SLURM_STEP_NUM_TASKS", "4"},       {"SLURM_LOCALID", "1"},
                          {"SLURM_NTASKS", "4"},         {"SLURM_JOB_ID", "66135"},           {"SLURM_STEP_ID", "2"},
                          {"SLURM_SRUN_COMM_HOST", "9"}, {"SLURM_STEP_NODELIST", "node[3-4]"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_NAMESPACE", "prterun-host-77@1"}};
const Variables kHydra = {
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}, {"PMI_FD", "7"}};
const Variables kPals = {
    {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_LOCAL_RANK", "1"}, {"PMI_LOCAL_SIZE", "2"}, {"PMI_JOBID", "a-b"}};

/// `base` with `changes`; the value "-" takes a variable away.
Variables with(Variables base, const Variables& changes) {
  for (const auto& [variable, value] : changes) {
    base[variable] = value;
    if (value == "-") base.erase(variable);
  }
  return base;
}

Variables both(Variables first, const Variables& second) {
  first.insert(second.begin(), second.end());
  return first;
}

void expect_none(const Variables& variables) {
  const RankEnvironment world = read(variables);
  EXPECT_EQ(world.launcher, RankLauncher::none);
  EXPECT_EQ(world.rank, 0);
  EXPECT_EQ(world.world_size, 1);
  EXPECT_EQ(world.control, -1);
}

void expect_ranks(const RankEnvironment& world, int rank, int size, int local_rank) {
  EXPECT_EQ(world.rank, rank);
  EXPECT_EQ(world.world_size, size);
  EXPECT_EQ(world.local_rank, local_rank);
}

void expect_store(const RankEnvironment& world, const std::string& address, int port, const std::string& run) {
  EXPECT_EQ(world.address, address);
  EXPECT_EQ(world.port, port);
  EXPECT_EQ(world.run, run);
}

TEST(RankEnvironment, NothingSetIsAWorldOfOne) { expect_none({}); }

TEST(RankEnvironment, OwnLauncherServesOnThisHostAtAPortToBeTold) {
  const RankEnvironment world = read(kOwn);
  EXPECT_EQ(world.launcher, RankLauncher::own);
  expect_ranks(world, 2, 4, 2);
  expect_store(world, "127.0.0.1", 0, "r1");
  EXPECT_EQ(world.control, 5);
}

TEST(RankEnvironment, OwnLauncherMayHaveAWorldOfOne) {
  const RankEnvironment world =
      read(with(kOwn, {{"FSDPCKPT_RANK", "0"}, {"FSDPCKPT_WORLD_SIZE", "1"}, {"FSDPCKPT_LOCAL_RANK", "0"}}));
  EXPECT_EQ(world.launcher, RankLauncher::own);
  expect_ranks(world, 0, 1, 0);
}

TEST(RankEnvironment, OwnVariablesWithoutAControlChannelAreNoWorld) {
  expect_none(with(kOwn, {{"FSDPCKPT_CONTROL", "-"}}));
}

TEST(RankEnvironment, TorchrunsAgentServesTheStore) {
  const RankEnvironment world = read(with(
      kLoop,
      {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RUN_ID", "job"}, {"TORCHELASTIC_RESTART_COUNT", "3"}}));
  EXPECT_EQ(world.launcher, RankLauncher::torchrun);
  expect_ranks(world, 5, 8, 1);
  expect_store(world, "node7", 29500, "job.3");
  EXPECT_TRUE(world.agent_store);
}

TEST(RankEnvironment, AHandMadeLoopHasNoAgent) {
  const RankEnvironment world = read(kLoop);
  EXPECT_EQ(world.launcher, RankLauncher::torchrun);
  expect_store(world, "node7", 29500, ".0");
  EXPECT_FALSE(world.agent_store);
  EXPECT_FALSE(read(with(kLoop, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).agent_store);
}

TEST(RankEnvironment, SlurmsStepIsTheWorld) {
  const RankEnvironment world = read(kSlurm);
  EXPECT_EQ(world.launcher, RankLauncher::slurm);
  expect_ranks(world, 3, 4, 1);
  expect_store(world, "node3", 20000 + (66135 * 7 + 2) % 20000, "66135.2");
}

TEST(RankEnvironment, ASlurmBatchScriptIsNoWorld) { expect_none(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "-"}})); }

TEST(RankEnvironment, SlurmsInteractiveStepIsAWorldOfOne) {
  expect_none(with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "4294967290"}}));
}

TEST(RankEnvironment, TheLargestSlurmNumbersFit) {
  const RankEnvironment world = read(with(kSlurm, {{"SLURM_JOB_ID", "4294967295"}, {"SLURM_STEP_ID", "4294967295"}}));
  expect_store(world, "node3", 20000 + 34359738360 % 20000, "4294967295.4294967295");
}

TEST(RankEnvironment, SlurmsFirstHostServesTheStore) {
  const Variables first_of = {{"node7", "node7"},         {"node[3-5,9]", "node3"}, {"a1,b2", "a1"},
                              {"gpu[003-010]", "gpu003"}, {"n[7,1-3],m1", "n7"},    {"r[1-2]n[4-5]-ib", "r1n4-ib"},
                              {"n2,n1,n1", "n2"},         {"a.b.org", "a.b.org"},   {"gpu-a[12],gpu-b", "gpu-a12"}};
  for (const auto& [list, host] : first_of) {
    EXPECT_EQ(read(with(kSlurm, {{"SLURM_STEP_NODELIST", list}})).address, host) << list;
  }
}

TEST(RankEnvironment, MalformedHostListsAreUsageErrors) {
  for (const char* list : {"", ",a", "node[", "node[3", "node[]", "node[-3]", "node[a-b]", "node]", "node3]"}) {
    const Error error = error_of([&] { read(with(kSlurm, {{"SLURM_STEP_NODELIST", list}})); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.what(), "SLURM_STEP_NODELIST is '" + std::string(list) + "': a list of hosts was expected");
  }
}

TEST(RankEnvironment, OneHostOfOpenMpiNeedsNoAddress) {
  const RankEnvironment world = read(kOpenMpi);
  EXPECT_EQ(world.launcher, RankLauncher::openmpi);
  expect_ranks(world, 1, 4, 1);
  EXPECT_EQ(world.address, "127.0.0.1");
  EXPECT_EQ(world.run, "prterun-host-77@1");
  EXPECT_EQ(world.port, read(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}})).port);
  EXPECT_NE(world.port, read(with(kOpenMpi, {{"PMIX_NAMESPACE", "prterun-host-78@1"}})).port);
}

TEST(RankEnvironment, OpenMpiWithoutANamespaceTakesTheJobOrNothing) {
  const Variables old = with(kOpenMpi, {{"PMIX_NAMESPACE", "-"}, {"OMPI_MCA_ess_base_jobid", "a"}});
  // FNV-1a of "a" is 0xaf63dc4c8601ec8c, of "" 0xcbf29ce484222325.
  expect_store(read(old), "127.0.0.1", 20000 + 0xaf63dc4c8601ec8c % 20000, "a");
  expect_store(read(with(old, {{"OMPI_MCA_ess_base_jobid", "-"}})), "127.0.0.1", 20000 + 0xcbf29ce484222325 % 20000,
               "");
}

TEST(RankEnvironment, OneHostOfHydraNeedsNoAddress) {
  const RankEnvironment world = read(kHydra);
  EXPECT_EQ(world.launcher, RankLauncher::pmi);
  expect_ranks(world, 1, 2, 1);
  EXPECT_EQ(world.address, "127.0.0.1");
  EXPECT_EQ(world.run, "");
}

TEST(RankEnvironment, PalsHasItsOwnNamesOfLocalRanks) {
  const RankEnvironment world = read(with(kPals, {{"MASTER_ADDR", "x3"}}));
  EXPECT_EQ(world.launcher, RankLauncher::pmi);
  expect_ranks(world, 3, 4, 1);
  EXPECT_EQ(world.address, "x3");
  EXPECT_EQ(world.run, "a-b");
}

TEST(RankEnvironment, MasterAddressAndPortBeatWhatIsMadeUp) {
  const Variables master = {{"MASTER_ADDR", "10.0.0.7"}, {"MASTER_PORT", "65535"}};
  for (const Variables& base : {kSlurm, kOpenMpi, kHydra, kPals}) {
    const RankEnvironment world = read(both(base, master));
    EXPECT_EQ(world.address, "10.0.0.7");
    EXPECT_EQ(world.port, 65535);
  }
  EXPECT_EQ(read(with(kSlurm, {{"MASTER_ADDR", "h"}, {"SLURM_STEP_NODELIST", "-"}})).address, "h");
  EXPECT_EQ(read(with(kSlurm, {{"MASTER_ADDR", ""}, {"MASTER_PORT", ""}})).address, "node3");
}

TEST(RankEnvironment, SeveralHostsOfMpiNeedAnAddress) {
  struct Case {
    Variables variables;
    std::string launcher, example;
  };
  for (const Case& c : std::vector<Case>{
           {with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}), "mpirun", "mpirun -x MASTER_ADDR=HOST ..."},
           {with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "-"}}), "mpirun", "mpirun -x MASTER_ADDR=HOST ..."},
           {with(kHydra, {{"MPI_LOCALNRANKS", "1"}}), "mpiexec", "MASTER_ADDR=HOST mpiexec ..."},
           {kPals, "mpiexec", "MASTER_ADDR=HOST mpiexec ..."}}) {
    const Error error = error_of([&] { read(c.variables); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.what(), "MASTER_ADDR is not set, and " + c.launcher + " names no host of rank 0");
    EXPECT_EQ(error.hint(), "set MASTER_ADDR to the host of rank 0: " + c.example);
  }
}

TEST(RankEnvironment, TheFirstLauncherWithAWorldWins) {
  EXPECT_EQ(read(both(both(kOwn, kLoop), kSlurm)).launcher, RankLauncher::own);
  EXPECT_EQ(read(both(both(kLoop, kSlurm), kOpenMpi)).launcher, RankLauncher::torchrun);
  EXPECT_EQ(read(both(kOpenMpi, kHydra)).launcher, RankLauncher::openmpi);
  const Variables one = {{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  EXPECT_EQ(read(both(one, kSlurm)).launcher, RankLauncher::slurm);
  EXPECT_EQ(read(both(one, kHydra)).launcher, RankLauncher::pmi);
  expect_none(one);
}

TEST(RankEnvironment, SrunsOwnPmiLeavesTheWorldToSlurm) {
  const Variables pmi2 = {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_JOBID", "66135.2"}, {"PMI_FD", "9"}};
  EXPECT_EQ(read(both(kSlurm, pmi2)).launcher, RankLauncher::slurm);
}

TEST(RankEnvironment, RanksOfADaemonThatSrunStartedAreTheDaemonsLaunchersRanks) {
  for (const Variables& mpi : {kOpenMpi, kHydra}) {
    const RankEnvironment there = read(both(mpi, kSlurm));
    const RankEnvironment here = read(both(mpi, with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "-"}})));
    EXPECT_EQ(there.launcher, read(mpi).launcher);
    EXPECT_EQ(there.rank, read(mpi).rank);
    EXPECT_EQ(there.port, here.port);
  }
}

TEST(RankEnvironment, EveryBadNumberIsAUsageErrorThatNamesItsVariable) {
  struct Case {
    Variables base;
    std::string variable, expected;
  };
  const std::string kSize = "a number from 1 to 65536", kId = "a number from 0 to 4294967295";
  const std::string kPort = "a number from 1 to 65535";
  for (const Case& c :
       std::vector<Case>{{kOwn, "FSDPCKPT_RANK", "a number from 0 to FSDPCKPT_WORLD_SIZE - 1"},
                         {kOwn, "FSDPCKPT_WORLD_SIZE", kSize},
                         {kOwn, "FSDPCKPT_LOCAL_RANK", "a number from 0 to FSDPCKPT_WORLD_SIZE - 1"},
                         {kOwn, "FSDPCKPT_CONTROL", "a number from 0 to 2147483647"},
                         {kLoop, "RANK", "a number from 0 to WORLD_SIZE - 1"},
                         {kLoop, "WORLD_SIZE", kSize},
                         {kLoop, "LOCAL_RANK", "a number from 0 to WORLD_SIZE - 1"},
                         {kLoop, "MASTER_PORT", kPort},
                         {kSlurm, "SLURM_PROCID", "a number from 0 to SLURM_STEP_NUM_TASKS - 1"},
                         {kSlurm, "SLURM_STEP_NUM_TASKS", kSize},
                         {kSlurm, "SLURM_LOCALID", "a number from 0 to SLURM_STEP_NUM_TASKS - 1"},
                         {kSlurm, "SLURM_JOB_ID", kId},
                         {kSlurm, "SLURM_STEP_ID", kId},
                         {kOpenMpi, "OMPI_COMM_WORLD_RANK", "a number from 0 to OMPI_COMM_WORLD_SIZE - 1"},
                         {kOpenMpi, "OMPI_COMM_WORLD_SIZE", kSize},
                         {kOpenMpi, "OMPI_COMM_WORLD_LOCAL_RANK", "a number from 0 to OMPI_COMM_WORLD_SIZE - 1"},
                         {kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "a number from 1 to OMPI_COMM_WORLD_SIZE"},
                         {kHydra, "PMI_RANK", "a number from 0 to PMI_SIZE - 1"},
                         {kHydra, "PMI_SIZE", kSize},
                         {kHydra, "MPI_LOCALRANKID", "a number from 0 to PMI_SIZE - 1"},
                         {kHydra, "MPI_LOCALNRANKS", "a number from 1 to PMI_SIZE"},
                         {kPals, "PMI_LOCAL_RANK", "a number from 0 to PMI_SIZE - 1"},
                         {kPals, "PMI_LOCAL_SIZE", "a number from 1 to PMI_SIZE"}}) {
    for (const std::string value : {"", "x", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551617"}) {
      const Error error = error_of([&] { read(with(c.base, {{c.variable, value}})); });
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.what(), c.variable + " is '" + value + "': " + c.expected + " was expected");
    }
  }
}

TEST(RankEnvironment, NumbersOutOfTheirRangeAreUsageErrors) {
  for (const auto& [base, changes] :
       std::vector<std::pair<Variables, Variables>>{{kLoop, {{"RANK", "8"}}},
                                                    {kLoop, {{"WORLD_SIZE", "0"}}},
                                                    {kLoop, {{"WORLD_SIZE", "65537"}}},
                                                    {kLoop, {{"LOCAL_RANK", "8"}}},
                                                    {kLoop, {{"MASTER_PORT", "0"}}},
                                                    {kLoop, {{"MASTER_PORT", "65536"}}},
                                                    {kSlurm, {{"MASTER_PORT", "0"}}},
                                                    {kSlurm, {{"SLURM_JOB_ID", "4294967296"}}},
                                                    {kOpenMpi, {{"MASTER_PORT", "x"}}},
                                                    {kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "5"}}},
                                                    {kHydra, {{"MPI_LOCALNRANKS", "0"}}},
                                                    {kOwn, {{"FSDPCKPT_CONTROL", "2147483648"}}},
                                                    {{}, {{"RANK", "1"}, {"WORLD_SIZE", "1"}}}}) {
    const auto& [variable, value] = *changes.begin();
    const Error error = error_of([&, &all = base, &some = changes] { read(with(all, some)); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()).find(variable + " is '" + value + "': "), 0U) << error.what();
  }
  EXPECT_EQ(read(with(kLoop, {{"RANK", "65535"}, {"WORLD_SIZE", "65536"}})).rank, 65535);
}

TEST(RankEnvironment, AMissingPartnerIsAUsageErrorThatNamesBoth) {
  struct Case {
    Variables base;
    std::string variable, partner;
  };
  for (const Case& c : std::vector<Case>{{kOwn, "FSDPCKPT_RANK", "FSDPCKPT_WORLD_SIZE"},
                                         {kOwn, "FSDPCKPT_WORLD_SIZE", "FSDPCKPT_RANK"},
                                         {kOwn, "FSDPCKPT_RUN", "FSDPCKPT_CONTROL"},
                                         {kLoop, "RANK", "WORLD_SIZE"},
                                         {kLoop, "WORLD_SIZE", "RANK"},
                                         {kLoop, "MASTER_ADDR", "RANK"},
                                         {kLoop, "MASTER_PORT", "RANK"},
                                         {kSlurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                         {kSlurm, "SLURM_JOB_ID", "SLURM_STEP_NUM_TASKS"},
                                         {kSlurm, "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"},
                                         {kSlurm, "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS"},
                                         {kOpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {kOpenMpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                         {kHydra, "PMI_RANK", "PMI_SIZE"},
                                         {kHydra, "PMI_SIZE", "PMI_RANK"}}) {
    const Error error = error_of([&] { read(with(c.base, {{c.variable, "-"}})); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.what(), c.variable + " is not set: " + c.partner + " needs it");
  }
}

TEST(RankEnvironment, TheLocalRankMayBeLeftOut) {
  const RankEnvironment world = read(with(kLoop, {{"LOCAL_RANK", "-"}}));
  EXPECT_EQ(world.rank, 5);
  EXPECT_EQ(world.local_rank, 0);
}

TEST(RankEnvironment, AnEmptyRequiredAddressIsAUsageError) {
  EXPECT_STREQ(error_of([] {
                 read(with(kLoop, {{"MASTER_ADDR", ""}}));
               }).what(),
               "MASTER_ADDR is '': the host of rank 0 was expected");
}

TEST(RankEnvironment, ThisProcesssEnvironmentIsRead) {
  for (const auto& [variable, value] : kOwn) setenv(variable.c_str(), value.c_str(), 1);
  const RankEnvironment world = read_rank_environment();
  for (const auto& [variable, value] : kOwn) unsetenv(variable.c_str());
  expect_ranks(world, 2, 4, 2);
}

TEST(RankLauncherName, IsTheCommandThatPeopleKnow) {
  EXPECT_EQ(name(RankLauncher::none), "no launcher");
  EXPECT_EQ(name(RankLauncher::own), "fsdpckpt");
  EXPECT_EQ(name(RankLauncher::torchrun), "torchrun");
  EXPECT_EQ(name(RankLauncher::slurm), "srun");
  EXPECT_EQ(name(RankLauncher::openmpi), "mpirun");
  EXPECT_EQ(name(RankLauncher::pmi), "mpiexec");
}

}  // namespace
}  // namespace fsdpckpt
