#!/usr/bin/env python3
"""Real torch writes random nested state dicts at random world sizes; consolidated, every leaf is equal in type and bits.

Each tree has its own seed; a failure prints it, and `--seed SEED --count 1` runs that tree alone.
"""
import inspect
import os
import random
import shutil
import sys
import time
from collections import Counter, deque

import harness

harness.enter_venv()
import torch  # noqa: E402
import torch.distributed.checkpoint as dcp  # noqa: E402

import archive_audit  # noqa: E402
import deep_equal  # noqa: E402
import pool  # noqa: E402
import realize  # noqa: E402
import trees  # noqa: E402

WAYS = [[], ["-j", "1"], ["-j", "3"], ["--verify"], ["--memory-limit", "16M"]]


def dtype_works(name):
    try:
        dtype = getattr(torch, name)
        torch.save(torch.zeros(8, dtype=torch.uint8).view(dtype), os.devnull)
        return torch._utils._element_size(dtype) > 0
    except Exception:
        return False


def features(report):
    """What this torch can write; each thing that it cannot is said."""
    writer = inspect.signature(dcp.FileSystemWriter.__init__).parameters
    version = harness.torch_version()
    planner = inspect.signature(dcp.DefaultSavePlanner.__init__).parameters
    has = {
        "dtypes": {d for d in trees.NEWER if dtype_works(d)},
        "dtensor": version >= (2, 3),
        "per_rank_keys": version >= (2, 4),
        "strided": version >= (2, 5),
        "bytes": version >= (2, 5),
        "set": version >= (2, 6),
        "zstd": "_extensions" in writer and zstd_works(),
        "safetensors": "serialization_format" in writer and importable("safetensors"),
        "nocoll": "use_collectives" in inspect.signature(dcp.save).parameters if hasattr(dcp, "save") else False,
        "unflattened": True,
        "old_flattening": hasattr(dcp, "_version"),
        "lowest": "dedup_save_to_lowest_rank" in planner,
    }
    for name, there in has.items():
        if not there:
            report.not_in_this_torch(name + (" (pip install zstandard)" if name == "zstd" and "_extensions" in writer else ""))
    for name in trees.NEWER:
        if name not in has["dtypes"]:
            report.not_in_this_torch(f"saving {name}")
    return has


def importable(module):
    try:
        __import__(module)
        return True
    except ImportError:
        return False


def zstd_works():
    from torch.distributed.checkpoint._extension import ZStandard
    return ZStandard.is_available()


def writer_of(path, options):
    more = {}
    if options["zstd"]:
        from torch.distributed.checkpoint._extension import ZStandard
        more["_extensions"] = [ZStandard()]
    if options["safetensors"]:
        from torch.distributed.checkpoint.filesystem import SerializationFormat
        more["serialization_format"] = SerializationFormat.SAFETENSORS
    return dcp.FileSystemWriter(path, single_file_per_rank=options["single_file"], sync_files=False, thread_count=options["threads"], **more)


def save(rank, size, seed, has, path):
    """One rank's part of one save; runs in the pool."""
    case = trees.make_case(seed, has)
    options = case.options
    lowest = {"dedup_save_to_lowest_rank": options["lowest"]} if has["lowest"] else {}
    # the second flattening, of nested ShardedTensors, would take apart what the old rules keep as one object
    planner = dcp.DefaultSavePlanner(flatten_state_dict=not options["unflattened"],
                                     flatten_sharded_tensors=not options["old_flattening"], **lowest)
    state, writer = realize.what_rank_saves(case, rank, size), writer_of(path, options)
    if options["old_flattening"]:
        dcp._version._derived_version = "2_3"
    try:
        if not hasattr(dcp, "save"):
            dcp.save_state_dict(state, writer, planner=planner)
        elif options["nocoll"]:
            dcp.save(state, storage_writer=writer, planner=planner, use_collectives=False)
        else:
            dcp.save(state, storage_writer=writer, planner=planner)
    finally:
        if options["old_flattening"]:
            dcp._version._derived_version = None


class Run:
    def __init__(self, context):
        self.context, self.report, self.args = context, context.report, context.args
        self.has, self.worlds = features(context.report), pool.Worlds()
        self.tried = Counter()
        self.seen, self.kept, self.pending, self.failed, self.refused = Counter(), 0, deque(), [], []

    def next_seed(self, seed):
        """The next seed from `seed` on whose keys do not coincide when they are joined by dots."""
        while True:
            case = trees.make_case(seed, self.has)
            try:
                case.want = realize.expected(case)
                return case
            except ValueError:
                seed += 1

    def start(self, case):
        path = self.context.work / f"tree-{case.seed}"
        self.submit(case, path)
        self.pending.append((case, path))

    def submit(self, case, path):
        self.worlds[case.world].submit(save, case.seed, self.has, str(path))

    def torch_refuses(self, case, error):
        """Old versions refuse some of their own layouts; their world is started anew, with what waited for it."""
        self.refused.append(f"seed {case.seed}: {error.strip().splitlines()[-1]}")
        for other, path in self.pending:
            if other.world == case.world:
                shutil.rmtree(path, ignore_errors=True)
                self.submit(other, path)

    def finish(self):
        case, path = self.pending.popleft()
        try:
            self.worlds.worlds[case.world].result()
        except RuntimeError as e:
            return self.torch_refuses(case, str(e))
        if case.meta is not None:
            torch.save(realize.expected_meta(case), path / "meta.pt")
        problems = self.look(case, path)
        if problems:
            self.failed.append(case.seed)
            self.report.check(f"seed {case.seed}, world {case.world}, {chosen(case)}", False, "; ".join(problems[:6]) + f"; in {path}")
        else:
            shutil.rmtree(path)
            os.unlink(str(path) + ".pt")
        self.count(case)

    def count(self, case):
        self.seen.update([f"world {case.world}", *chosen(case), *(["meta.pt"] if case.meta is not None else []), *(["wild"] if case.wild else [])])
        for spec in trees.specs(case.tree):
            self.tried.update([spec.form, spec.dtype, *[p[0] for p in spec.placements]])

    def not_tried(self):
        """What a run of full length must have met, else the generator has lost it."""
        everything = set(trees.CLASSIC) | self.has["dtypes"] | set(trees.FORMS) | {"fsdp", "boxes"}
        everything |= {"dtensor", "S", "R"} if self.has["dtensor"] else set()
        everything |= {"SS"} if self.has["strided"] else set()
        return sorted(everything - set(self.tried))

    def look(self, case, path):
        out = str(path) + ".pt"
        way = random.Random(case.seed).choice(WAYS)
        run = self.context.tool.consolidate(path, out, "--no-fsync", *way)
        if run.returncode:
            return [harness.said(run)]
        problems, _ = archive_audit.audit(out)
        loads = [{}] if case.wild else [{"weights_only": True}, {"weights_only": True, "mmap": True}]
        for how in loads:
            if how.get("mmap") and harness.torch_version() < (2, 1):
                continue
            try:
                got = torch.load(out, **(how or {"weights_only": False}))
            except Exception as e:
                problems.append(f"torch.load({how}): {type(e).__name__}: {str(e)[:300]}")
                continue
            problems += deep_equal.differences(got, in_order_of(got, case), not case.options["nocoll"])
        if not problems and not case.wild and self.kept < 100 and self.args.keep:
            self.kept += 1
            self.context.keep(str(case.seed), out)
        return problems

    def all(self):
        seed, started = self.args.seed, time.monotonic()
        count = min(self.args.count, 60) if self.args.quick else self.args.count
        for i in range(count):
            case = self.next_seed(seed)
            seed = case.seed + 1
            self.start(case)
            if len(self.pending) > 1:
                self.finish()
            if (i + 1) % 100 == 0:
                print(f"     {i + 1} trees, {time.monotonic() - started:.0f} s", flush=True)
        while self.pending:
            self.finish()
        if self.refused and harness.torch_version() >= (2, 13):
            self.report.check("torch saves every tree", False, "; ".join(self.refused[:4]))
        elif self.refused:
            self.report.not_in_this_torch(f"saving {len(self.refused)} of the {count} trees, {self.refused[0]}")
        covered = ", ".join(f"{n} x {what}" for what, n in sorted(self.seen.items()))
        if count >= 500:
            self.report.check("every dtype, form and placement was among them", not self.not_tried(), str(self.not_tried()))
        bad = f"{len(self.failed)} differ: seeds {self.failed[:20]}"
        self.report.check(f"{count} random trees from seed {self.args.seed} ({covered})", not self.failed, bad)


def in_order_of(got, case):
    """Without paths (planner_data is None) torch itself fixes no order of the top level."""
    want = case.want
    return {key: want[key] for key in got} if case.options["unflattened"] and set(got) == set(want) else want


def chosen(case):
    return [name for name, value in case.options.items() if value is True and name != "single_file"] + (
        [] if case.options["single_file"] else ["file per item"]) + (["threads"] if case.options["threads"] > 1 else [])


def add_arguments(parser):
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.setrecursionlimit(10000)
    harness.main(__file__, __doc__, lambda context: Run(context).all(), add_arguments)
