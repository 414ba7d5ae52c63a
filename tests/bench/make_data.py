#!/usr/bin/env python3
"""Writes the benchmark's data sets: sharded checkpoints of a made-up decoder, as FSDP ranks leave them.

  make_data.py NAME FOLDER            write data set NAME to FOLDER
  make_data.py NAME --verify OUT.pt   OUT.pt holds the consolidated data set NAME: every name, dtype and shape; sampled bytes
  make_data.py --check                a simulated save equals the save of a real gloo group, byte for byte

The ranks are simulated in one process, one after another, through torch's own global planner and FileSystemWriter;
each piece is made when it is written, so that memory stays small. A tensor's bytes follow from its name and
position alone: nothing has to be kept to verify an output.
"""
import argparse
import filecmp
import hashlib
import logging
import math
import os
import random
import shutil
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint._nested_dict import flatten_state_dict
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex, TensorProperties
from torch.distributed.checkpoint.planner import SavePlan, TensorWriteData, WriteItem, WriteItemType

STEP = 12345.0
META = {"iteration": 12345, "epoch": 3, "hparams": {"lr": 3e-4, "name": "decoder", "betas": (0.9, 0.95)}}


@dataclass
class Entry:
    """One tensor: sharded on dim 0 over all ranks, or the same scalar on every rank."""
    name: str
    shape: tuple
    dtype: torch.dtype


def decoder(width, vocabulary, layers):
    """(name, shape) of the weights of a decoder with grouped keys and a gated feed-forward part."""
    inner, keys = width * 11 // 4, width // 4
    yield "embedding.weight", (vocabulary, width)
    for i in range(layers):
        for name, shape in (("norm_in", (width,)), ("query", (width, width)), ("key", (keys, width)), ("value", (keys, width)),
                            ("out", (width, width)), ("norm_mid", (width,)), ("gate", (inner, width)), ("up", (inner, width)),
                            ("down", (width, inner))):
            yield f"blocks.{i}.{name}.weight", shape
    yield "norm.weight", (width,)
    yield "head.weight", (vocabulary, width)


def adam_state(weights):
    """A state dict of Entries: bfloat16 weights, float32 moments, one step a weight, one parameter group."""
    weights = list(weights)
    state = {n: {"step": Entry(f"step.{n}", (), torch.float32), "exp_avg": Entry(f"exp_avg.{n}", s, torch.float32),
                 "exp_avg_sq": Entry(f"exp_avg_sq.{n}", s, torch.float32)} for n, s in weights}
    group = {"lr": 3e-4, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1, "foreach": None, "params": [n for n, _ in weights]}
    return {"model": {n: Entry(n, s, torch.bfloat16) for n, s in weights}, "optimizer": {"state": state, "param_groups": [group]}}


def many_small(count):
    return {"model": {f"blocks.{i // 10}.m{i % 10}": Entry(f"m{i}", (32, 64), torch.bfloat16) for i in range(count)}}


SETS = {  # name: (ranks, state dict of Entries)
    "adam-2g-8": (8, lambda: adam_state(decoder(1024, 16000, 16))),
    "adam-256m-8": (8, lambda: adam_state(decoder(512, 8192, 7))),
    "adam-256m-64": (64, lambda: adam_state(decoder(512, 8192, 7))),
    "small-20k-2": (2, lambda: many_small(20000)),
    "tiny-3": (3, lambda: adam_state(decoder(16, 50, 1))),
}


def position_bytes(name, start, stop):
    """Bytes [start, stop) of a tensor: its 64-bit words are a mixed counter, seeded by the name."""
    seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little", signed=True)
    first, last = start // 8, -(-stop // 8)
    word = torch.arange(first, last, dtype=torch.int64)
    word.mul_(-7046029254386353131).add_(seed)
    word.bitwise_xor_(word >> 29).mul_(-4658895280553007687)
    word.bitwise_xor_(word >> 32)
    return word.view(torch.uint8)[start - 8 * first:stop - 8 * first]


def piece(entry, offsets, sizes):
    """The rows of an entry that a chunk holds, as a tensor of its own."""
    if not entry.shape:
        return torch.tensor(STEP)
    item = torch.empty((), dtype=entry.dtype).element_size()
    row = math.prod(entry.shape[1:]) * item
    data = position_bytes(entry.name, offsets[0] * row, (offsets[0] + sizes[0]) * row)
    return data.clone().view(entry.dtype).reshape(tuple(sizes))


class SimulatedPlanner(dcp.DefaultSavePlanner):
    """torch's planner, with the pieces made when they are asked for."""

    def __init__(self, values):
        super().__init__()
        self.values, self.sizes = values, {}

    def lookup_object(self, index):
        value = self.values[index.fqn]
        if not isinstance(value, Entry):
            return value
        return piece(value, index.offset, self.sizes[index.fqn, index.offset])

    def local_plan(self, rank, ranks, paths):
        items = [self.item(name, value, rank, ranks) for name, value in self.values.items()]
        return SavePlan(items, planner_data=paths)

    def item(self, name, value, rank, ranks):
        if not isinstance(value, Entry):
            return WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO)
        size, offsets, sizes = torch.Size(value.shape), torch.Size(value.shape), torch.Size(value.shape)
        if size:  # rows are dealt as torch.chunk deals them
            each = -(-size[0] // ranks)
            low, high = min(size[0], rank * each), min(size[0], (rank + 1) * each)
            offsets, sizes = torch.Size((low, *[0] * (len(size) - 1))), torch.Size((high - low, *size[1:]))
        self.sizes[name, offsets] = sizes
        data = TensorWriteData(ChunkStorageMetadata(offsets, sizes), TensorProperties(dtype=value.dtype), size)
        return WriteItem(MetadataIndex(name, offsets), WriteItemType.SHARD if size else WriteItemType.TENSOR, tensor_data=data)


def write(name, folder):
    ranks, make = SETS[name]
    values, paths = flatten_state_dict(make())
    planner, writer = SimulatedPlanner(values), dcp.FileSystemWriter(str(folder), sync_files=False)
    writer.set_up_storage_writer(True)
    plans = [writer.prepare_local_plan(planner.local_plan(r, ranks, paths)) for r in range(ranks)]
    plans, metadata = planner.create_global_plan(plans)
    results = [writer.write_data(plan, planner).value() for plan in writer.prepare_global_plan(plans)]
    writer.finish(metadata, results)
    torch.save(META, str(Path(folder) / "meta.pt"))


def entries(node, path=()):
    if isinstance(node, Entry):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from entries(value, path + (key,))


def verify(name, out, samples=40):
    """How many tensors are there; AssertionError when a name, shape, dtype or sampled byte is wrong."""
    state = torch.load(out, mmap=True, weights_only=True)
    wanted = dict(entries(SETS[name][1]()))
    sampled = set(random.Random(0).sample(sorted(wanted), min(samples, len(wanted))))
    for path, entry in wanted.items():
        tensor = state
        for step in path:
            tensor = tensor[step]
        assert tensor.dtype == entry.dtype and tuple(tensor.shape) == entry.shape, (path, tensor.dtype, tensor.shape)
        if path in sampled:
            want = piece(entry, (0,) * len(entry.shape), entry.shape)
            assert torch.equal(tensor.contiguous().reshape(-1).view(torch.uint8), want.reshape(-1).view(torch.uint8)), path
    size = sum(math.prod(e.shape) * torch.empty((), dtype=e.dtype).element_size() for e in wanted.values())
    assert size <= os.path.getsize(out) < size + 5120 * len(wanted) + 65536, (size, os.path.getsize(out))
    return len(wanted)


def _real_rank(rank, ranks, store, name, folder):
    """What one rank of a real group does for the same state dict."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import distribute_tensor, Shard
    dist.init_process_group("gloo", rank=rank, world_size=ranks, store=dist.FileStore(store, ranks))
    mesh = init_device_mesh("cpu", (ranks,))

    def real(node):
        if isinstance(node, Entry):
            whole = piece(node, (0,) * len(node.shape), node.shape)
            return distribute_tensor(whole, mesh, [Shard(0)]) if node.shape else whole
        return {k: real(v) for k, v in node.items()} if isinstance(node, dict) else node
    dcp.save(real(SETS[name][1]()), storage_writer=dcp.FileSystemWriter(folder, sync_files=False))
    dist.destroy_process_group()


def check(name="tiny-3"):
    import torch.multiprocessing as processes
    with tempfile.TemporaryDirectory() as temporary:
        simulated, real = os.path.join(temporary, "simulated"), os.path.join(temporary, "real")
        write(name, simulated)
        processes.start_processes(_real_rank, (SETS[name][0], temporary + "/store", name, real), SETS[name][0], start_method="fork")
        files = sorted(f for f in os.listdir(real) if f.endswith(".distcp"))
        same = [f for f in files if filecmp.cmp(os.path.join(real, f), os.path.join(simulated, f), shallow=False)]
        metadata = [dcp.FileSystemReader(d).read_metadata() for d in (simulated, real)]
        for field in ("state_dict_metadata", "planner_data", "storage_data"):
            a, b = (getattr(m, field) for m in metadata)
            assert a == b and list(a) == list(b), field
        assert same == files == sorted(f for f in os.listdir(simulated) if f.endswith(".distcp")), (same, files)
    print(f"simulated and real saves of {name} are equal: {len(files)} rank files")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(SETS))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--verify", metavar="OUT.pt")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if args.check:
        return check()
    if args.verify:
        return print(f"{verify(args.name, args.verify)} tensors are right")
    if not args.folder:
        parser.error("FOLDER is missing")
    shutil.rmtree(args.folder, ignore_errors=True)
    return write(args.name, args.folder)


if __name__ == "__main__":
    sys.exit(main())
