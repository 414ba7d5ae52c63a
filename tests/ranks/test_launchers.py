"""Ranks on this machine that somebody else starts: a loop in a shell, srun, mpirun, torchrun."""
import os
import re
import shutil
import subprocess
import time
import unittest

import harness
import hosts

SOURCES = ("torch-2.4.1/dt_s0_w2", "lightning-2.6.6/fabric_fsdp", "cases/uneven-empty-shards/ckpt")
TIMEOUT = 5
WITHIN = 10  # seconds, for a world in which a rank is missing


def by_hand(rank, size, port):
    return hosts.variables(rank, size, "127.0.0.1", port)


def slurm(rank, size, port):
    """Of `srun -n SIZE`, slurm 22.05; the program makes the port up from the job and the step."""
    return {"SLURM_JOB_ID": str(port), "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank),
            "SLURM_STEP_NUM_TASKS": str(size), "SLURM_NTASKS": str(size), "SLURM_STEP_NODELIST": "localhost",
            "SLURM_JOB_NODELIST": "localhost", "SLURM_STEP_NUM_NODES": "1", "SLURM_NNODES": "1", "SLURM_NODEID": "0"}


def slurm_with_port(rank, size, port):
    return {**slurm(rank, size, port), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def openmpi(rank, size, port):
    """Of `mpirun -n SIZE`, Open MPI 4.1."""
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(size), "OMPI_COMM_WORLD_NODE_RANK": str(rank),
            "OMPI_MCA_ess_base_jobid": str(port * 65536 + 1), "PMIX_NAMESPACE": str(port * 65536 + 1), "PMIX_RANK": str(rank)}


class LaunchersTest(hosts.RanksTest):
    def start_world(self, launcher, size, *arguments, absent=(), env=None):
        port = hosts.free_port()
        return [self.start(*arguments, env={**launcher(rank, size, port), **(env or {})})
                for rank in range(size) if rank not in absent]

    def run_world(self, launcher, size, *arguments, seconds=60.0, **options):
        return self.finish(self.start_world(launcher, size, *arguments, **options), seconds)

    def same(self, run):
        """`run(SRC, DST)` gives what one process gives, from several checkpoints."""
        for source in SOURCES:
            with self.subTest(source):
                expected = self.one_process(harness.TESTDATA / source)
                self.assert_answered_once(run(harness.TESTDATA / source, "out.pt"), expected.notes)
                self.assertEqual((self.folder / "out.pt").read_bytes(), expected.data)
                self.assertEqual(self.listed(), ["one.pt", "out.pt"])
                os.remove(self.folder / "out.pt")

    def cut(self):
        """A checkpoint whose second file is too short; and what its message must name."""
        path = self.folder / self.copy("torch-2.4.1/dt_s0_w2") / "__1_0.distcp"
        os.truncate(path, path.stat().st_size - 1000)
        return r"  in:  ck/__1_0\.distcp"


class Variables(LaunchersTest):
    """The variables without the launcher."""

    def check(self, launcher, size):
        self.same(lambda *places: self.run_world(launcher, size, "consolidate", *places))

    def test_two_ranks_by_hand(self):
        self.check(by_hand, 2)

    def test_three_ranks_by_hand(self):
        self.check(by_hand, 3)

    def test_host_by_name(self):
        self.check(lambda rank, size, port: {**by_hand(rank, size, port), "MASTER_ADDR": "localhost"}, 2)

    def test_slurm(self):
        self.check(slurm, 2)
        self.check(slurm_with_port, 3)

    def test_openmpi(self):
        self.check(openmpi, 2)
        self.check(openmpi, 3)

    def test_a_world_of_one(self):
        self.same(lambda *places: self.run_world(by_hand, 1, "consolidate", *places))

    def test_the_last_rank_comes_first(self):
        """Ranks start seconds apart on busy clusters."""
        expected = self.one_process(harness.TESTDATA / SOURCES[0])
        arguments, port = ("consolidate", harness.TESTDATA / SOURCES[0], "out.pt"), hosts.free_port()
        last = self.start(*arguments, env=by_hand(1, 2, port))
        time.sleep(2)
        first = self.start(*arguments, env=by_hand(0, 2, port))
        self.assert_answered_once(self.finish([first, last]), expected.notes)
        self.assertEqual((self.folder / "out.pt").read_bytes(), expected.data)

    def test_json(self):
        results = self.run_world(by_hand, 2, "consolidate", harness.TESTDATA / SOURCES[0], "out.pt", "--json")
        self.assertEqual([(result.code, result.err) for result in results], [(0, "")] * 2)
        harness.valid_document(self, results[0].out, "consolidate")
        self.assertEqual(results[1].out, "")

    def test_quiet(self):
        results = self.run_world(by_hand, 2, "consolidate", harness.TESTDATA / SOURCES[0], "out.pt", "-q")
        self.assertEqual(results, [harness.Result(0, "", "")] * 2)

    def test_a_cut_file_is_told_once(self):
        what = self.cut()
        for launcher, size in ((by_hand, 2), (by_hand, 3), (slurm, 2), (openmpi, 2)):
            with self.subTest(launcher=launcher.__name__, size=size):
                self.assert_told_once(self.run_world(launcher, size, "consolidate", "ck", "out.pt"), 3, what)
                self.assertEqual(self.listed(), ["ck"])

    def test_an_output_that_is_there_is_told_once(self):
        (self.folder / "out.pt").write_bytes(b"older")
        results = self.run_world(by_hand, 3, "consolidate", harness.TESTDATA / SOURCES[0], "out.pt")
        self.assert_told_once(results, 5, "out.pt")
        self.assertEqual((self.folder / "out.pt").read_bytes(), b"older")

    def test_inspect_prints_once(self):
        alone = self.run_cli("inspect", harness.TESTDATA / SOURCES[0])
        for launcher, size in ((by_hand, 2), (slurm, 3), (openmpi, 2)):
            with self.subTest(launcher=launcher.__name__):
                results = self.run_world(launcher, size, "inspect", harness.TESTDATA / SOURCES[0])
                self.assertEqual(results, [alone] + [harness.Result(0, "", "")] * (size - 1))

    def test_inspect_fails_once(self):
        results = self.run_world(by_hand, 2, "inspect", "nothing")
        self.assertEqual((results[0].code, results[1].out, results[1].err), (3, "", ""), results)
        self.assert_plain(results[0].err)

    def test_stdout_as_output_is_refused(self):
        for result in self.run_world(by_hand, 2, "consolidate", harness.TESTDATA / SOURCES[0], "-"):
            self.assertEqual((result.code, result.out), (2, ""))
            self.assert_plain(result.err)

    def test_ranks_of_our_own_besides_are_refused(self):
        for result in self.run_world(slurm, 2, "consolidate", harness.TESTDATA / SOURCES[0], "out.pt", "--ranks", "2"):
            self.assertEqual((result.code, result.out), (2, ""))
            self.assert_plain(result.err)
            self.assertRegex(result.err, "--ranks and srun's 2 ranks exclude each other")

    def test_a_variable_is_missing(self):
        for missing in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"):
            with self.subTest(missing):
                env = {name: value for name, value in by_hand(1, 2, 29500).items() if name != missing}
                result = self.run_cli("consolidate", harness.TESTDATA / SOURCES[0], "out.pt", env=env)
                self.assertEqual((result.code, result.out, self.listed()), (2, "", []))
                self.assertRegex(result.err, rf"\Afsdpckpt: error: {missing} is not set")


class AbsentRanks(LaunchersTest):
    def check(self, size, absent, launcher=by_hand):
        begun = time.monotonic()
        results = self.run_world(launcher, size, "consolidate", harness.TESTDATA / SOURCES[0], "out.pt",
                                 f"--timeout={TIMEOUT}s", absent=absent, seconds=WITHIN)
        self.assertLess(time.monotonic() - begun, WITHIN)
        self.assert_ranks_error(results, range(len(results)))
        self.assertEqual(self.listed(), [])

    def test_the_second_of_two(self):
        self.check(2, [1])

    def test_the_first_of_two(self):
        self.check(2, [0])

    def test_the_first_of_three(self):
        self.check(3, [0])

    def test_the_last_of_three(self):
        self.check(3, [2])

    def test_with_slurm(self):
        self.check(2, [1], slurm)

    def test_with_openmpi(self):
        self.check(2, [0], openmpi)

    def test_two_worlds_on_one_port(self):
        """The second finds the port taken: it says so, and disturbs no one."""
        arguments, port = ("consolidate", harness.TESTDATA / SOURCES[0]), hosts.free_port()
        first = self.start(*arguments, "out.pt", f"--timeout={3 * TIMEOUT}s", env=by_hand(0, 2, port))
        self.assertTrue(harness.wait_for(lambda: listens(first.pid, port)), "rank 0 does not listen")
        other = self.start(*arguments, "other.pt", f"--timeout={TIMEOUT}s", env=by_hand(0, 2, port))
        [result] = self.finish([other], WITHIN)
        second = self.start(*arguments, "out.pt", f"--timeout={3 * TIMEOUT}s", env=by_hand(1, 2, port))
        self.assert_answered_once(self.finish([first, second]))
        self.assert_ranks_error([result], [0])
        self.assertIn(str(port), result.err)


def listens(pid, port):
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}") as lines:
            if any(re.search(rf"^ *\d+: [0-9A-F]+:{port:04X} [0-9A-F]+:0000 0A ", line) for line in lines):
                return True
    return False


class RealLauncher(LaunchersTest):
    """One that is a program: its stdout is its ranks'."""

    def command(self, size):
        raise NotImplementedError

    def launch(self, *arguments, size=2, program=(harness.BINARY,), **variables):
        [result] = self.finish([self.spawn(*self.command(size), *program, *arguments, **variables)], 100)
        return result

    def check_same(self, size):
        for source in SOURCES:
            with self.subTest(source):
                expected = self.one_process(harness.TESTDATA / source)
                result = self.launch("consolidate", harness.TESTDATA / source, "out.pt", size=size)
                self.assertEqual(result.code, 0, result)
                self.assertRegex(result.out, hosts.ANSWER.format("out.pt"))
                self.assertEqual((self.folder / "out.pt").read_bytes(), expected.data)
                self.assertEqual(self.listed(), ["one.pt", "out.pt"])
                os.remove(self.folder / "out.pt")

    def check_failure(self, code, **options):
        """The ranks' message once, and none of ranks that were interrupted."""
        what = self.cut()
        before = self.listed()
        result = self.launch("consolidate", "ck", "out.pt", **options)
        self.assertEqual((result.code, result.out, self.listed()), (code, "", before), result.err)
        [error] = hosts.PLAIN_ERROR.findall(result.err)
        self.assertRegex(error, what)
        return result.err

    def check_inspect(self):
        alone = self.run_cli("inspect", harness.TESTDATA / SOURCES[0])
        result = self.launch("inspect", harness.TESTDATA / SOURCES[0])
        self.assertEqual((result.code, result.out), (0, alone.out), result.err)


class RealLauncherTests:
    """What all of them are asked."""

    failure = 3

    def test_two_ranks(self):
        self.check_same(2)

    def test_three_ranks(self):
        self.check_same(3)

    def test_a_cut_file_is_told_once(self):
        self.check_failure(self.failure)

    def test_inspect_prints_once(self):
        self.check_inspect()


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class Mpirun(RealLauncherTests, RealLauncher):
    def command(self, size):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", size]

    def test_a_slow_first_rank_tells_its_error_all_the_same(self):
        """mpirun ends all ranks as soon as one ends with an error: the one that speaks must have spoken before."""
        script = self.folder / "slow"
        script.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exec "$@"\nexec nice -n 19 "$@"\n')
        script.chmod(0o755)
        for _ in range(5):
            shutil.rmtree(self.folder / "ck", ignore_errors=True)
            self.check_failure(self.failure, program=("./slow", harness.BINARY))


@unittest.skipUnless(hosts.torchrun(), "no torchrun: FSDPCKPT_VENV is not set or has none")
class TorchrunStandalone(RealLauncherTests, RealLauncher):
    failure = 1  # torchrun's own, whatever its ranks' is

    def command(self, size):
        return [hosts.torchrun(), "--standalone", "--no-python", "--nproc-per-node", size]

    def test_the_ranks_exit_code_is_in_its_report(self):
        self.assertRegex(self.check_failure(self.failure), r"exitcode *: 3\b")


class TorchrunStatic(TorchrunStandalone):
    def command(self, size):
        return [hosts.torchrun(), "--nnodes=1", "--node-rank=0", "--master-addr=127.0.0.1",
                f"--master-port={hosts.free_port()}", "--no-python", "--nproc-per-node", size]


def srun_works():
    if shutil.which("srun") is None:
        return False
    try:
        return subprocess.run(["srun", "--immediate=5", "-n", "1", "true"], capture_output=True, timeout=20).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@unittest.skipUnless(srun_works(), "srun is not installed, or there is no Slurm that takes jobs (SLURM_CONF says where)")
class Srun(RealLauncherTests, RealLauncher):
    def command(self, size):
        return ["srun", "--immediate=20", "--overcommit", "-n", size]

    def environment(self, **variables):
        conf = {"SLURM_CONF": os.environ["SLURM_CONF"]} if "SLURM_CONF" in os.environ else {}
        return super().environment(**conf, **variables)


if __name__ == "__main__":
    harness.main()
