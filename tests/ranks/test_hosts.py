"""A checkpoint whose files lie on the disks of several hosts, consolidated by ranks on those hosts."""
import os
import re
import shutil
import signal
import time
import unittest

import harness
import hosts

PORT = 29500
TIMEOUT = 6
WITHIN = TIMEOUT + 5  # of a world that has lost a rank


class HostsTest(hosts.RanksTest):
    @classmethod
    def setUpClass(cls):
        reason = hosts.reason_to_skip()
        if reason:
            raise unittest.SkipTest(reason)

    def network(self, count):
        network = hosts.Network(self.folder, count)
        self.addCleanup(network.close)
        self.hosts = network.hosts
        return network

    def start_rank(self, rank, *arguments, per_host=1, env=None, address=None):
        """Rank by rank over the hosts, as a launcher would."""
        size = per_host * len(self.hosts)
        address = address or self.hosts[0].address
        there = hosts.variables(rank, size, address, PORT, rank % per_host)
        return self.hosts[rank // per_host].start(
            harness.BINARY, *arguments,
            env=self.environment(**there, **{"GLOO_SOCKET_IFNAME": hosts.INTERFACE, **(env or {})}))

    def start_world(self, *arguments, per_host=1, envs=None, **options):
        """A rank or more on every host; `envs` are more variables of some ranks."""
        return [self.start_rank(rank, *arguments, per_host=per_host, env=(envs or {}).get(rank), **options)
                for rank in range(per_host * len(self.hosts))]

    def consolidate(self, *more, seconds=60.0, **options):
        return self.finish(self.start_world("consolidate", "ck", "out.pt", *more, **options), seconds)

    def listed(self, folder=None):
        return [host.listed() for host in self.hosts] if folder is None else super().listed(folder)

    def assert_only_on_first(self, before, expected):
        """The first host has the output, byte for byte, and no host has anything else that is new."""
        self.assertEqual(self.listed(), [sorted([*before[0], "out.pt"]), *before[1:]])
        self.assertEqual((self.hosts[0].disk / "out.pt").read_bytes(), expected.data)


class EveryDisk(HostsTest):
    def check(self, name, count, index_on=0, **options):
        network = self.network(count)
        network.spread(name, index_on)
        before = self.listed()
        expected = self.one_process(harness.TESTDATA / name)
        self.assert_answered_once(self.consolidate(**options), expected.notes)
        self.assert_only_on_first(before, expected)
        return network

    def test_two_ranks_rows(self):
        self.check("torch-2.4.1/dt_s0_w2", 2)

    def test_meta_pt(self):
        self.check("lightning-2.6.6/fabric_fsdp", 2)

    def test_not_contiguous_items(self):
        self.check("torch-2.0.1/st_w2", 2)

    def test_compressed_items(self):
        self.check("torch-2.13.0/fsdp2_zstd_w2", 2)

    def test_safetensors_items(self):
        self.check("torch-2.13.0/fsdp2_safetensors_w2", 2)

    def test_one_file_an_item(self):
        self.check("torch-2.13.0/fsdp2_perfile_w2", 2)

    def test_uneven_and_empty_shards_on_three_hosts(self):
        self.check("cases/uneven-empty-shards/ckpt", 3)

    def test_boxes_on_three_hosts(self):
        self.check("torch-2.15.0/fsdp2_tp_2x2", 3)

    def test_replicas_on_two_hosts_of_two_ranks(self):
        self.check("torch-2.13.0/dt_rs0_2x2", 2, per_host=2)

    def test_boxes_on_two_hosts_of_two_ranks(self):
        self.check("torch-2.15.0/fsdp2_tp_2x2", 2, per_host=2)

    def test_index_on_another_host_than_the_output(self):
        self.check("lightning-2.6.6/fabric_fsdp", 2, index_on=1)

    def test_index_on_the_third_host(self):
        self.check("cases/uneven-empty-shards/ckpt", 3, index_on=2)

    def test_index_of_every_rank_on_its_host(self):
        self.check("cases/rank-local-metadata/ckpt", 2)

    def test_hosts_by_name_and_no_interface_named(self):
        """Gloo then listens where the host's own name leads."""
        self.check("torch-2.4.1/dt_s0_w2", 2, address="h0", envs={0: {"GLOO_SOCKET_IFNAME": ""}, 1: {"GLOO_SOCKET_IFNAME": ""}})


class Disks(HostsTest):
    """What else may lie where."""

    def setUp(self):
        super().setUp()
        self.name = "torch-2.4.1/dt_s0_w2"
        self.expected = self.one_process(harness.TESTDATA / self.name)

    def spread(self, count=2):
        self.net = self.network(count)
        self.net.spread(self.name)

    def test_a_file_on_both_hosts(self):
        self.spread()
        shutil.copy(self.hosts[0].disk / "ck/__0_0.distcp", self.hosts[1].disk / "ck")
        before = self.listed()
        self.assert_answered_once(self.consolidate())
        self.assert_only_on_first(before, self.expected)

    def test_everything_on_the_last_host(self):
        self.spread()
        for path in list((self.hosts[0].disk / "ck").iterdir()):
            shutil.move(path, self.hosts[1].disk / "ck")
        before = self.listed()
        self.assert_answered_once(self.consolidate())
        self.assert_only_on_first(before, self.expected)

    def test_a_host_without_the_folder(self):
        self.spread(3)
        (self.hosts[2].disk / "ck").rmdir()
        before = self.listed()
        self.assert_answered_once(self.consolidate())
        self.assert_only_on_first(before, self.expected)

    def test_verified(self):
        self.spread()
        before = self.listed()
        self.assert_answered_once(self.consolidate("--verify"))
        self.assert_only_on_first(before, self.expected)

    def test_output_on_a_disk_of_all_hosts(self):
        self.spread()
        (self.folder / "shared").mkdir()
        before = self.listed()
        target = self.folder / "shared/out.pt"
        self.assert_answered_once(self.finish(self.start_world("consolidate", "ck", target)), target=str(target))
        self.assertEqual((target.read_bytes(), self.listed()), (self.expected.data, before))
        self.assertEqual(os.listdir(target.parent), ["out.pt"])

    def test_dry_run_writes_nothing(self):
        self.spread()
        before = self.listed()
        results = self.consolidate("-n")
        self.assertEqual([(result.code, result.err) for result in results], [(0, "")] * 2)
        self.assertEqual((results[1].out, self.listed()), ("", before))
        self.assertNotEqual(results[0].out, "")

    def test_an_output_that_is_there_stays(self):
        self.spread()
        (self.hosts[0].disk / "out.pt").write_bytes(b"older")
        before = self.listed()
        self.assert_told_once(self.consolidate(), 5, "out.pt")
        self.assertEqual((self.listed(), (self.hosts[0].disk / "out.pt").read_bytes()), (before, b"older"))
        self.assert_answered_once(self.consolidate("-f"))
        self.assertEqual((self.hosts[0].disk / "out.pt").read_bytes(), self.expected.data)

    def test_the_output_of_another_host_is_no_matter(self):
        self.spread()
        (self.hosts[1].disk / "out.pt").write_bytes(b"older")
        self.assert_answered_once(self.consolidate())
        self.assertEqual((self.hosts[0].disk / "out.pt").read_bytes(), self.expected.data)
        self.assertEqual((self.hosts[1].disk / "out.pt").read_bytes(), b"older")


class WrongDisks(HostsTest):
    def setUp(self):
        super().setUp()
        self.network(2).spread("torch-2.4.1/dt_s0_w2")
        self.shard = self.hosts[1].disk / "ck/__1_0.distcp"

    def check(self, what, code=3):
        before = self.listed()
        self.assert_told_once(self.consolidate(), code, what)
        self.assertEqual(self.listed(), before)

    def test_a_file_on_no_host(self):
        self.shard.unlink()
        self.check(r"__1_0\.distcp")

    def test_the_index_on_no_host(self):
        (self.hosts[0].disk / "ck/.metadata").unlink()
        self.check(r"\.metadata")

    def test_a_cut_file_on_another_host(self):
        size = self.shard.stat().st_size
        os.truncate(self.shard, size - 1000)
        self.check(rf"\Afsdpckpt: error: [^\n]*{size - 1000}[^\n]*\n  in:  [^\n]*__1_0\.distcp")

    def test_damage_on_another_host(self):
        item = bytearray(self.shard.read_bytes())
        for data in re.finditer(rb"archive/data/0FB..Z*(?!PK)", item, re.DOTALL):
            item[data.end()] ^= 1
        self.shard.write_bytes(item)
        self.check(r"  in:  [^\n]*__1_0\.distcp, entry ")

    def test_different_files_of_one_name(self):
        (self.hosts[0].disk / "ck/__1_0.distcp").write_bytes(b"x")
        self.check(r"\b1\b[^\n]*\n  in:  [^\n]*__1_0\.distcp")

    def test_no_folder_on_any_host(self):
        for host in self.hosts:
            shutil.rmtree(host.disk / "ck")
        self.check(r"'?ck\b")


class LostRanks(HostsTest):
    def setUp(self):
        super().setUp()
        self.begun = None

    def start_faulty(self, fault, count=2):
        self.network(count).spread("cases/uneven-empty-shards/ckpt")
        self.before = self.listed()
        self.begun = time.monotonic()
        faulty = int(fault.split(":")[0])
        return self.start_world("consolidate", "ck", "out.pt", f"--timeout={TIMEOUT}s",
                                envs={faulty: {"FSDPCKPT_FAULT": fault}})

    def assert_ended(self, results, lost, since=None):
        others = [rank for rank in range(len(results)) if rank != lost]
        self.assert_ranks_error(results, others)
        self.assertLess(time.monotonic() - (since or self.begun), WITHIN)
        self.assertEqual(self.listed(), self.before)

    def test_a_killed_rank(self):
        results = self.finish(self.start_faulty("1:data:KILL"), WITHIN)
        self.assertEqual(results[1].code, -signal.SIGKILL)
        self.assert_ended(results, 1)

    def test_a_killed_rank_of_three(self):
        results = self.finish(self.start_faulty("2:data:KILL", 3), WITHIN)
        self.assertEqual(results[2].code, -signal.SIGKILL)
        self.assert_ended(results, 2)

    def test_a_rank_killed_before_the_plan(self):
        self.assert_ended(self.finish(self.start_faulty("1:plan:KILL"), WITHIN), 1)

    def test_a_rank_killed_before_the_commit(self):
        self.assert_ended(self.finish(self.start_faulty("1:commit:KILL"), WITHIN), 1)

    def test_the_first_rank_killed(self):
        """Nobody is left who could remove its temporary; its host's next run names it."""
        results = self.finish(self.start_faulty("0:data:KILL"), WITHIN)
        self.assert_ranks_error(results, [1])
        self.assertEqual(self.listed()[1:], self.before[1:])
        self.assertNotIn("out.pt", self.listed()[0])

    def stopped(self, processes, rank):
        self.assertTrue(harness.wait_for(lambda: hosts.is_stopped(processes[rank].pid), 30), "not stopped")
        return time.monotonic()

    def test_a_stopped_rank(self):
        processes = self.start_faulty("1:data:STOP")
        since = self.stopped(processes, 1)
        self.assert_ended(self.finish(processes[:1], WITHIN), None, since)
        processes[1].send_signal(signal.SIGCONT)
        self.assert_ended(self.finish(processes[1:], WITHIN), None, time.monotonic())

    def test_a_stopped_rank_of_three(self):
        processes = self.start_faulty("1:data:STOP", 3)
        since = self.stopped(processes, 1)
        self.assert_ended(self.finish([processes[0], processes[2]], WITHIN), None, since)

    def check_unplugged(self, host):
        processes = self.start_faulty("1:data:STOP")
        self.stopped(processes, 1)
        self.hosts[host].unplug()
        since = time.monotonic()
        processes[1].send_signal(signal.SIGCONT)
        self.assert_ended(self.finish(processes, WITHIN), None, since)

    def test_a_host_without_network(self):
        self.check_unplugged(1)

    def test_the_first_host_without_network(self):
        self.check_unplugged(0)

    def test_a_host_that_never_had_network(self):
        self.network(2).spread("cases/uneven-empty-shards/ckpt")
        self.before = self.listed()
        self.hosts[1].unplug()
        self.begun = time.monotonic()
        results = self.finish(self.start_world("consolidate", "ck", "out.pt", f"--timeout={TIMEOUT}s"), WITHIN)
        self.assert_ended(results, None)

    def test_hosts_whose_own_names_lead_to_loopback(self):
        """As Debian installs them (127.0.1.1): they meet all the same, or all say in time that they cannot."""
        net = self.network(2)
        net.spread("cases/uneven-empty-shards/ckpt")
        net.names.write_text("127.0.0.1 localhost\n127.0.1.1 h0 h1\n")
        self.before = self.listed()
        self.begun = time.monotonic()
        unnamed = {rank: {"GLOO_SOCKET_IFNAME": ""} for rank in (0, 1)}
        results = self.finish(self.start_world("consolidate", "ck", "out.pt", f"--timeout={TIMEOUT}s", envs=unnamed), WITHIN)
        if any(result.code for result in results):
            self.assert_ended(results, None)


@unittest.skipUnless(hosts.torchrun(), "no torchrun: FSDPCKPT_VENV is not set or has none")
class Torchrun(HostsTest):
    def launch(self, *arguments, per_host=1):
        launched = [hosts.torchrun(), f"--nnodes={len(self.hosts)}", f"--nproc-per-node={per_host}", "--rdzv-backend=c10d",
                    f"--rdzv-endpoint={self.hosts[0].address}:{PORT}", "--rdzv-id=fsdpckpt", "--max-restarts=0"]
        return [host.start(*launched, f"--rdzv-conf=is_host={int(host.number == 0)}", f"--local-addr={host.address}",
                           "--no-python", harness.BINARY, *arguments,
                           env=self.environment(GLOO_SOCKET_IFNAME=hosts.INTERFACE, OMP_NUM_THREADS="1"))
                for host in self.hosts]

    def check(self, name, count, per_host=1):
        self.network(count).spread(name)
        before = self.listed()
        results = self.finish(self.launch("consolidate", "ck", "out.pt", per_host=per_host), 120)
        self.assertEqual([result.code for result in results], [0] * count, results)
        self.assertRegex("".join(result.out for result in results), hosts.ANSWER.format("out.pt"))
        self.assert_only_on_first(before, self.one_process(harness.TESTDATA / name))

    def test_two_hosts(self):
        self.check("lightning-2.6.6/fabric_fsdp", 2)

    def test_three_hosts(self):
        self.check("cases/uneven-empty-shards/ckpt", 3)

    def test_two_hosts_of_two_ranks(self):
        self.check("torch-2.15.0/fsdp2_tp_2x2", 2, per_host=2)

    def test_a_file_on_no_host(self):
        self.network(2).spread("torch-2.4.1/dt_s0_w2")
        (self.hosts[1].disk / "ck/__1_0.distcp").unlink()
        before = self.listed()
        results = self.finish(self.launch("consolidate", "ck", "out.pt"), 120)
        self.assertEqual(([result.code for result in results], self.listed()), ([1, 1], before))
        told = "".join(result.err for result in results)
        self.assertEqual(told.count("fsdpckpt: error:"), 1, told)
        self.assertRegex(told, r"exitcode *: 3\b")


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class Mpirun(HostsTest):
    def launch(self, network, *arguments, per_host=1, address="h0"):
        there = ",".join(f"{host.name}:{per_host}" for host in self.hosts)
        exported = {"GLOO_SOCKET_IFNAME": hosts.INTERFACE, **({"MASTER_ADDR": address} if address else {})}
        return self.hosts[0].start(
            "mpirun", "--allow-run-as-root", "--oversubscribe", "--host", there, "-n", per_host * len(self.hosts),
            "--mca", "plm_rsh_agent", network.remote_shell(), "--mca", "oob_tcp_if_include", hosts.INTERFACE,
            *[word for name, value in exported.items() for word in ("-x", f"{name}={value}")],
            harness.BINARY, *arguments, env=self.environment())

    def check(self, name, count, per_host=1):
        network = self.network(count)
        network.spread(name)
        before = self.listed()
        expected = self.one_process(harness.TESTDATA / name)
        results = self.finish([self.launch(network, "consolidate", "ck", "out.pt", per_host=per_host)])
        self.assert_answered_once(results, expected.notes)
        self.assert_only_on_first(before, expected)

    def test_two_hosts(self):
        self.check("lightning-2.6.6/fabric_fsdp", 2)

    def test_three_hosts(self):
        self.check("cases/uneven-empty-shards/ckpt", 3)

    def test_two_hosts_of_two_ranks(self):
        self.check("torch-2.13.0/dt_rs0_2x2", 2, per_host=2)

    def test_a_file_on_no_host(self):
        network = self.network(2)
        network.spread("torch-2.4.1/dt_s0_w2")
        (self.hosts[1].disk / "ck/__1_0.distcp").unlink()
        before = self.listed()
        [result] = self.finish([self.launch(network, "consolidate", "ck", "out.pt")])
        self.assertEqual((result.code, result.out, self.listed()), (3, "", before))
        self.assertEqual(result.err.count("fsdpckpt: error:"), 1, result.err)
        self.assertRegex(result.err, r"__1_0\.distcp")

    def test_the_host_of_the_first_rank_is_not_named(self):
        network = self.network(2)
        network.spread("torch-2.4.1/dt_s0_w2")
        before = self.listed()
        [result] = self.finish([self.launch(network, "consolidate", "ck", "out.pt", address=None)])
        self.assertEqual((result.code, result.out, self.listed()), (2, "", before))
        self.assertIn("try: set MASTER_ADDR to the host of rank 0: mpirun -x MASTER_ADDR=HOST ...\n", result.err)


if __name__ == "__main__":
    harness.main()
