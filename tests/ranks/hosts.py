"""Ranks that somebody else starts: by hand, by torchrun, mpirun or srun; on this machine or on several hosts.

A host is a network namespace with an address, a name and a disk of its own: a mount namespace in which the folder `disk`
of the test shows what is `disks/N` outside. So one path has other files on every host. The hosts hang on a bridge in a
namespace of its own: nothing leads out, and nothing of theirs is seen outside. Needs root and iproute2.

FSDPCKPT_VENV is a Python environment with torch, for torchrun; without it those tests are skipped.
"""
import dataclasses
import itertools
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time

import harness

INTERFACE = "eth0"
ANSWER = r"\A{}: \d+ tensors?, \d+ objects?, [0-9.]+ (?:B|[KMG]iB) in [^\n]+\n\Z"
PLAIN_ERROR = re.compile(r"fsdpckpt: error: [^\n]+\n(?:  in:  [^\n]+\n)?(?:  try: [^\n]+\n)?")
OF_LIBRARIES = re.compile(r"\.(?:cc|cpp|hpp|h):\d+|Exception raised|frame #|\[c10d\]|std::|terminate|what\(\)")
NAME = re.compile(r"fsdpckpt-(\d+)-")
NETWORKS = itertools.count()


@dataclasses.dataclass
class Expected:
    data: bytes
    notes: str


def torchrun():
    """The program, or None."""
    venv = os.environ.get("FSDPCKPT_VENV")
    path = pathlib.Path(venv, "bin", "torchrun") if venv else None
    return path if path and path.exists() else None


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def variables(rank, size, address="127.0.0.1", port=None, local_rank=None):
    """What torchrun's likes leave in a rank's environment."""
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank if local_rank is None else local_rank),
            "MASTER_ADDR": address, "MASTER_PORT": str(port)}


def is_stopped(pid):
    status = pathlib.Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] == "T"


class RanksTest(harness.CliTest):
    def one_process(self, source):
        """The bytes that every world must write, and the notes that it must print."""
        result = self.run_cli("consolidate", source, "one.pt", "-f")
        self.assertEqual(result.code, 0, result.err)
        return Expected((self.folder / "one.pt").read_bytes(), result.err)

    def spawn(self, *command, **variables):
        """A launcher that runs in the test's folder, its stdout and stderr in pipes."""
        return subprocess.Popen([*map(str, command)], cwd=self.folder, env=self.environment(**variables),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, processes, seconds=60.0):
        """Their results, in order; who is not done in time is killed, and the test fails."""
        end = time.monotonic() + seconds
        texts = [None] * len(processes)

        def read(i):
            texts[i] = processes[i].communicate()

        readers = [threading.Thread(target=read, args=(i,)) for i in range(len(processes))]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(max(0.0, end - time.monotonic()))
        late = [i for i, reader in enumerate(readers) if reader.is_alive()]
        for i in late:
            processes[i].kill()
        for reader in readers:
            reader.join()
        results = [harness.Result(process.returncode, *map(harness.text_of, text))
                   for process, text in zip(processes, texts)]
        self.assertEqual(late, [], f"not done after {seconds} s: {results}")
        return results

    def assert_answered_once(self, results, notes="", target="out.pt"):
        """All ended with 0, and one of them has said what was written."""
        self.assertEqual([result.code for result in results], [0] * len(results), results)
        self.assertEqual("".join(result.err for result in results), notes)
        self.assertRegex("".join(result.out for result in results), ANSWER.format(re.escape(target)))

    def assert_told_once(self, results, code, what, silent=""):
        """All ended with `code`, and one of them said why."""
        self.assertEqual([result.code for result in results], [code] * len(results), results)
        self.assertEqual([result.out for result in results], [silent] * len(results))
        told = "".join(result.err for result in results)
        self.assert_plain(told)
        self.assertRegex(told, what)

    def assert_plain(self, err):
        """One error for people, and nothing that a library said."""
        self.assertRegex(err, rf"\A{PLAIN_ERROR.pattern}\Z")
        self.assertNotRegex(err, OF_LIBRARIES)

    def assert_ranks_error(self, results, ranks):
        for rank in ranks:
            with self.subTest(rank=rank):
                self.assertEqual((results[rank].code, results[rank].out), (6, ""), results[rank])
                self.assert_plain(results[rank].err)


def run(*command, check=True):
    return subprocess.run([str(word) for word in command], check=check, capture_output=True, text=True, timeout=60)


def reason_to_skip():
    """Why this machine can have no hosts, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in ("ip", "unshare", "nsenter") if shutil.which(tool) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    namespaces = run("unshare", "--net", "--mount", "--uts", "true", check=False)
    return f"no namespaces here: {namespaces.stderr.strip()}" if namespaces.returncode else None


def kill_all_in(namespace):
    """Until none is left: a process may start another meanwhile."""
    def pids():
        return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).stdout.split()]

    end = time.monotonic() + 10
    while (left := pids()) and time.monotonic() < end:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def remove_namespace(namespace):
    kill_all_in(namespace)
    run("ip", "netns", "del", namespace, check=False)


def remove_stale():
    """What a run left that was killed itself."""
    for line in run("ip", "netns", "list").stdout.splitlines():
        name = line.split()[0] if line.split() else ""
        made_by = NAME.match(name)
        if made_by and not pathlib.Path("/proc", made_by[1]).exists():
            remove_namespace(name)


class Host:
    def __init__(self, network, number):
        self.network = network
        self.number = number
        self.name = f"h{number}"
        self.address = f"10.77.0.{number + 1}"
        self.disk = network.folder / "disks" / str(number)  # as seen from outside
        self.namespace = network.add_namespace(self.name)
        self.holder = None

    def connect(self, switch):
        run("ip", "-n", switch, "link", "add", self.name, "type", "veth", "peer", "name", INTERFACE, "netns", self.namespace)
        run("ip", "-n", switch, "link", "set", self.name, "master", "bridge", "up")
        run("ip", "-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", INTERFACE)
        for link in ("lo", INTERFACE):
            run("ip", "-n", self.namespace, "link", "set", link, "up")

    def boot(self):
        """A process that does nothing keeps the mounts and the name."""
        self.disk.mkdir(parents=True)
        words = [shlex.quote(str(word)) for word in (self.disk, self.network.disk, self.network.names)]
        script = (f"hostname {self.name} && mount --bind {words[0]} {words[1]} && mount --bind {words[2]} /etc/hosts && "
                  "echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(["ip", "netns", "exec", self.namespace, "unshare", "--mount", "--uts", "sh", "-c", script],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            raise RuntimeError(f"host {self.name} does not start")

    def enter(self):
        """The command that runs another on this host, in its disk; from anywhere."""
        return ["nsenter", "--target", str(self.holder.pid), "--mount", "--uts", "--net",
                "sh", "-c", 'cd "$0" && exec "$@"', str(self.network.disk)]

    def start(self, *command, **options):
        """The running program, its stdout and stderr in pipes."""
        process = subprocess.Popen([*self.enter(), *map(str, command)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.network.processes.append(process)
        return process

    def unplug(self):
        run("ip", "-n", self.namespace, "link", "set", INTERFACE, "down")

    def listed(self):
        """Every file of its disk, hidden ones included."""
        return sorted(str(path.relative_to(self.disk)) for path in self.disk.rglob("*") if path.is_file())


class Network:
    """Hosts on one bridge; close() removes all there was of them."""

    def __init__(self, folder, count):
        self.folder = folder
        self.number = next(NETWORKS)
        self.disk = folder / "disk"  # every host's own, by one path
        self.names = folder / "etc-hosts"
        self.namespaces = []
        self.processes = []
        self.hosts = []
        try:
            self.build(count)
        except BaseException:
            self.close()
            raise

    def build(self, count):
        remove_stale()
        self.disk.mkdir()
        switch = self.add_namespace("switch")
        run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "bridge", "up")
        for number in range(count):
            self.hosts.append(Host(self, number))
            self.hosts[-1].connect(switch)
        self.names.write_text("127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in self.hosts))
        for host in self.hosts:
            host.boot()

    def add_namespace(self, name):
        full = f"fsdpckpt-{os.getpid()}-{self.number}-{name}"
        self.namespaces.append(full)
        run("ip", "netns", "add", full)
        return full

    def close(self):
        for namespace in self.namespaces:
            remove_namespace(namespace)
        for process in [*self.processes, *(host.holder for host in self.hosts if host.holder)]:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def spread(self, name, index_on=0, to="ck"):
        """A checkpoint's files by the rank in their names over the hosts' disks, all others on one host."""
        for host in self.hosts:
            (host.disk / to).mkdir()
        for path in sorted((harness.TESTDATA / name).iterdir()):
            rank = re.match(r"__(\d+)[_.]", path.name)
            host = self.hosts[int(rank[1]) % len(self.hosts) if rank else index_on]
            shutil.copy(path, host.disk / to)

    def remote_shell(self):
        """A program like ssh, for mpirun: HOST COMMAND..."""
        cases = "".join(f"  {host.name}) shift; exec {shlex.join(host.enter())} sh -c \"$*\" ;;\n" for host in self.hosts)
        script = self.folder / "remote_shell"
        script.write_text(f'#!/bin/sh\ncase "$1" in\n{cases}esac\necho "no host $1" >&2\nexit 255\n')
        script.chmod(0o755)
        return script
