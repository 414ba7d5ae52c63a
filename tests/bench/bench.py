#!/usr/bin/env python3
"""Measures fsdpckpt beside cp, a bare copy, and the converters of torch and Lightning, interleaved in one run.

  bench.py --fsdpckpt BIN [--bare-copy BIN] --venv DIR --work DIR [--reps 5] [--only SET] [--json FILE]

Every measure is a whole fresh process; the programs of a group take turns, in an order that rotates. Modes:
  warm    sources in the page cache, nothing synced: fsdpckpt --no-fsync beside plain cp
  synced  fsdpckpt as it is, beside cp followed by a sync of the files that it wrote
  cold    sources out of the page cache, nothing synced
Outputs are removed, and what is dirty is written, outside the timed part, for all alike. Each program's output is
verified once. Standard library only; --venv (torch, lightning) makes the data sets, runs the peers and verifies.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
import measure  # noqa: E402

import figures  # noqa: E402

COPY_AND_SYNC = 'cp -r "$1" "$2" && find "$2" -type f -exec sync {} +'
GROUPS = [  # (data set, mode, programs)
    ("adam-2g-8", "warm", ["cp", "bare copy", "fsdpckpt", "torch", "lightning"]),
    ("adam-2g-8", "synced", ["cp", "fsdpckpt"]),
    ("adam-2g-8", "cold", ["cp", "bare copy", "fsdpckpt"]),
    ("adam-256m-8", "warm", ["cp", "bare copy", "fsdpckpt", "torch", "lightning"]),
    ("small-20k-2", "warm", ["cp", "bare copy", "fsdpckpt", "torch"]),
    ("adam-256m-64", "warm", ["cp", "bare copy", "fsdpckpt", "torch"]),
]
INSTANT = [  # (title, data set or None, arguments)
    ("--version", None, ["--version"]),
    ("inspect, 264 tensors", "adam-256m-8", ["inspect"]),
    ("inspect, 20,000 tensors", "small-20k-2", ["inspect"]),
]
SLOW = ("torch", "lightning")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fsdpckpt", required=True, metavar="BIN")
    parser.add_argument("--bare-copy", metavar="BIN", help="the program bare_copy (-DFSDPCKPT_BENCH=ON)")
    parser.add_argument("--venv", metavar="DIR", help="virtual environment with torch and lightning")
    parser.add_argument("--work", required=True, metavar="DIR", help="data sets (kept) and outputs (removed) go here")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--peer-reps", type=int, default=2, help="repetitions of torch and Lightning (default 2)")
    parser.add_argument("--only", action="append", metavar="SET", help="only these data sets")
    parser.add_argument("--mode", action="append", choices=["warm", "synced", "cold"])
    parser.add_argument("--json", metavar="FILE", help="one line of JSON a measure and a goal")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    return parser.parse_args()


def log(*words):
    print(*words, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, args):
        self.args, self.measures, self.verified, self.problems = args, [], {}, []
        self.work = Path(args.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.out = self.work / "out"
        self.python = os.path.join(os.path.abspath(args.venv), "bin", "python") if args.venv else None
        self.json = open(args.json, "w") if args.json else None
        os.environ.update(OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")  # torch's copies only spin with more

    # -- the programs
    def command(self, program, mode, src):
        ours = [os.path.abspath(self.args.fsdpckpt), "consolidate", src, self.out]
        peer = [self.python, "-m"]
        return {
            "cp": ["sh", "-c", COPY_AND_SYNC, "sh", src, self.out] if mode == "synced" else ["cp", "-r", src, self.out],
            "bare copy": [self.args.bare_copy, src, self.out],
            "fsdpckpt": ours if mode == "synced" else ours + ["--no-fsync"],
            "torch": peer + ["torch.distributed.checkpoint.format_utils", "dcp_to_torch", src, self.out],
            "lightning": peer + ["lightning.fabric.utilities.consolidate_checkpoint", src, "--output_file", self.out],
        }[program]

    def available(self, programs):
        here = [p for p in programs if (self.python or p not in SLOW) and (self.args.bare_copy or p != "bare copy")]
        for missing in sorted(set(programs) - set(here)):
            log(f"not measured: {missing} (see --venv and --bare-copy)")
        return here

    # -- data and outputs
    def data(self, name):
        """The folder of a data set, made when it is not there yet."""
        folder = self.work / name
        if not (folder / ".metadata").exists():
            if not self.python:
                sys.exit(f"{folder} is not there, and making it needs --venv")
            log(f"making {name}")
            subprocess.run([self.python, str(HERE / "make_data.py"), name, str(folder)], check=True)
        return folder

    def remove_output(self):
        if self.out.is_dir():
            shutil.rmtree(str(self.out))
        elif self.out.exists():
            self.out.unlink()
        os.sync()

    def verify(self, name, program, src):
        """Once for each program and data set: names, shapes, sizes, sampled bytes."""
        if (name, program) in self.verified:
            return
        if program == "cp":
            run = subprocess.run(["diff", "-rq", str(src), str(self.out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        elif program == "bare copy":
            size = sum(f.stat().st_size for f in src.iterdir())
            run = subprocess.run(["test", str(self.out.stat().st_size), "-eq", str(size + 64)])
        elif self.python:
            argv = [self.python, str(HERE / "make_data.py"), name, "--verify", str(self.out)]
            run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        else:
            return log("not verified: fsdpckpt's output (see --venv)")
        self.verified[name, program] = run.returncode == 0
        if run.returncode:
            self.problems.append(f"{name}: output of {program} is wrong")
            log(f"{name}: output of {program} is WRONG", (run.stdout or b"")[-500:].decode("utf-8", "replace"))

    # -- measuring
    def record(self, **fields):
        self.measures.append(fields)
        if self.json:
            print(json.dumps(fields), file=self.json, flush=True)

    def one(self, name, mode, program, rep, src):
        self.remove_output()
        if mode == "cold":
            drop_from_cache(src)
        code, wall, cpu, peak, error = measure.run(self.command(program, mode, src), timeout=900)
        if code:
            self.problems.append(f"{name}, {mode}: {program} exited {code}")
            log(f"{name}, {mode}: {program} exited {code}:", error[-500:])
            return
        self.record(set=name, mode=mode, program=program, rep=rep, wall_s=round(wall, 4), cpu_s=round(cpu, 4), anon_bytes=peak)
        self.verify(name, program, src)

    def group(self, name, mode, programs):
        src, programs = self.data(name), self.available(programs)
        read_all(src)
        for rep in range(self.args.reps):
            turn = rep % len(programs)
            for program in programs[turn:] + programs[:turn]:
                if program not in SLOW or rep < self.args.peer_reps:
                    self.one(name, mode, program, rep, src)
        self.remove_output()
        log(f"{name}, {mode}: done")

    def instant(self, title, name, arguments, reps):
        """Short commands: at least 20 runs, the command line and all."""
        argv = [os.path.abspath(self.args.fsdpckpt), *arguments] + ([self.data(name)] if name else [])
        for rep in range(reps):
            code, wall, cpu, peak, error = measure.run(argv, watched=False)
            if code:
                self.problems.append(f"{title} exited {code}")
                return log(f"{title} exited {code}:", error[-300:])
            self.record(set=title, mode="warm", program="fsdpckpt", rep=rep, wall_s=round(wall, 5), cpu_s=round(cpu, 5), anon_bytes=peak)

    def wanted(self, name):
        return not self.args.only or name in self.args.only

    def all(self):
        for title, name, arguments in INSTANT:
            if name is None or self.wanted(name):
                self.instant(title, name, arguments, max(20, self.args.reps))
        for name, mode, programs in GROUPS:
            if self.wanted(name) and (not self.args.mode or mode in self.args.mode):
                self.group(name, mode, programs)


def read_all(folder):
    for path in sorted(folder.iterdir()):
        with open(str(path), "rb") as f:
            while f.read(1 << 22):
                pass


def drop_from_cache(folder):
    for path in folder.iterdir():
        fd = os.open(str(path), os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def main():
    args = arguments()
    bench = Bench(args)
    try:
        bench.all()
    finally:
        bench.remove_output()
    goals = figures.judge(bench.measures)
    for goal in goals:
        if bench.json:
            print(json.dumps(goal), file=bench.json)
    print(figures.goals_table(goals))
    print()
    print(figures.measures_table(bench.measures))
    for problem in bench.problems:
        print(f"\nPROBLEM: {problem}")
    missed = [g for g in goals if g["met"] is False]
    return 1 if bench.problems or args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
