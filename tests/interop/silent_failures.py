#!/usr/bin/env python3
"""Damage that torch's own converter takes in silence, side by side: torch exits 0, fsdpckpt names what is wrong.

Both sides are asserted, so that the comparison stays true when torch changes.
"""
import json
import os
import pickle
import shutil
import sys

import harness

harness.enter_venv()
import torch  # noqa: E402
import torch.distributed.checkpoint as dcp  # noqa: E402

import pool  # noqa: E402

INPUT, REFUSED = 3, 5
WHOLE = torch.arange(32.0).reshape(8, 4)


def save(rank, size, path):
    """Rows 0-3 and 4-7 of model.w from two ranks, a small whole tensor and an object."""
    from torch.distributed.device_mesh import init_device_mesh
    try:
        from torch.distributed.tensor import DTensor, Shard
    except ImportError:
        from torch.distributed._tensor import DTensor, Shard
    local = WHOLE[4 * rank:4 * rank + 4].clone()
    weight = DTensor.from_local(local, init_device_mesh("cpu", (size,)), [Shard(0)], run_check=False)
    dcp.save({"model": {"w": weight, "ok": torch.ones(3)}, "step": 7}, storage_writer=dcp.FileSystemWriter(path, sync_files=False))


class Damage:
    """A copy of the sound checkpoint, its .metadata edited."""

    def __init__(self, context, name):
        self.folder = context.work / name
        shutil.copytree(str(context.work / "sound"), str(self.folder))
        self.path = self.folder / ".metadata"
        self.metadata = pickle.loads(self.path.read_bytes())  # written by this script a moment ago

    def chunk(self, offsets):
        return next(index for index in self.metadata.storage_data if index.fqn == "model.w" and tuple(index.offset) == offsets)

    def chunks(self):
        return self.metadata.state_dict_metadata["model.w"].chunks

    def move(self, old, new):
        """The chunk that lies at row `old` claims to lie at row `new`."""
        index = self.chunk((old, 0))
        info = self.metadata.storage_data.pop(index)
        self.metadata.storage_data[type(index)("model.w", torch.Size((new, 0)), index.index)] = info
        for chunk in self.chunks():
            if chunk.offsets[0] == old:
                chunk.offsets = torch.Size((new, 0))

    def write(self):
        self.path.write_bytes(pickle.dumps(self.metadata, protocol=4))
        return self.folder


class RunsCode:
    """Pickles as a call that leaves a file behind when it is executed."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def gap(context):
    damage = Damage(context, "gap")
    damage.metadata.storage_data.pop(damage.chunk((4, 0)))
    damage.chunks()[:] = [c for c in damage.chunks() if c.offsets[0] != 4]
    src = damage.write()
    peer, state = peers_result(context, src)
    wrong = state is not None and torch.equal(state["model"]["w"][:4], WHOLE[:4])
    context.report.check("gap: torch exits 0 and writes rows that were never saved", peer.returncode == 0 and wrong, harness.said(peer))
    context.refuses("gap: fsdpckpt names the tensor and writes nothing", src, context.work / "gap.pt", (INPUT,), "model.w")


def overlap(context):
    damage = Damage(context, "overlap")
    damage.move(4, 2)
    src = damage.write()
    peer, state = peers_result(context, src)
    wrong = state is not None and not torch.equal(state["model"]["w"], WHOLE)
    context.report.check("overlap: torch exits 0 and writes a wrong tensor", peer.returncode == 0 and wrong, harness.said(peer))
    context.refuses("overlap: fsdpckpt names the tensor and writes nothing", src, context.work / "overlap.pt", (INPUT,), "model.w")


def outside_path(context):
    """A rank file's name in .metadata leads out of the checkpoint."""
    damage = Damage(context, "escape")
    shutil.move(str(damage.folder / "__1_0.distcp"), str(context.work / "outside.distcp"))
    for info in damage.metadata.storage_data.values():
        if info.relative_path == "__1_0.distcp":
            info.relative_path = "../outside.distcp"
    src = damage.write()
    peer, state = peers_result(context, src)
    read = state is not None and torch.equal(state["model"]["w"], WHOLE)
    context.report.check("'../' path: torch reads the file outside", peer.returncode == 0 and read, harness.said(peer))
    context.refuses("'../' path: fsdpckpt refuses and names it", src, context.work / "escape.pt", (REFUSED,), "../outside.distcp")


def code_in_metadata(context):
    marker = context.work / "ran-metadata"
    damage = Damage(context, "code")
    damage.metadata.planner_data["evil"] = RunsCode(f"touch {marker}")
    damage_runs(context, damage.write(), marker, "code in .metadata", ("system", ".metadata"))


def code_in_object(context):
    """A pickled call inside an object entry."""
    marker = context.work / "ran-object"
    src = context.work / "code-object"
    harness.save_alone({"w": torch.ones(3), "extra": (RunsCode(f"touch {marker}"),)}, src)
    damage_runs(context, src, marker, "code in an object", ("system", "extra"))


def damage_runs(context, src, marker, title, words):
    peer, _ = peers_result(context, src)
    context.report.check(f"{title}: torch runs it", marker.exists() and peer.returncode == 0, harness.said(peer))
    if marker.exists():
        marker.unlink()
    context.refuses(f"{title}: fsdpckpt refuses and names it", src, context.work / (src.name + ".pt"), (REFUSED,), *words)
    run = context.tool.run("inspect", src)
    context.report.check(f"{title}: neither consolidate nor inspect ran it", not marker.exists() and run.returncode in (0, REFUSED), harness.said(run))


def missing_input(context):
    src = context.work / "nowhere"
    peer, _ = peers_result(context, src)
    context.report.check("missing input: torch exits 0", peer.returncode == 0 and "Skipping" in peer.stdout, harness.said(peer))
    context.refuses("missing input: fsdpckpt names it", src, context.work / "nowhere.pt", (INPUT,), "nowhere")


def flipped_bit(context):
    """One bit of a payload: torch notices in its own way, but says neither tensor nor file."""
    src = context.work / "flipped"
    shutil.copytree(str(context.work / "sound"), str(src))
    path = src / "__1_0.distcp"
    data = bytearray(path.read_bytes())
    at = data.find(WHOLE[4:].contiguous().numpy().tobytes())
    data[at + 5] ^= 0x10
    path.write_bytes(bytes(data))
    peer, _ = peers_result(context, src)
    last = (peer.stderr.strip().splitlines() or [""])[-1]
    context.report.check("flipped bit: torch names neither tensor nor file", at >= 0 and "model.w" not in last and "__1_0" not in last, last[-200:])
    context.refuses("flipped bit: fsdpckpt names both", src, context.work / "flipped.pt", (INPUT,), "model.w", "__1_0.distcp")


def json_error(context):
    """The same facts for a program: kind, exit code, entry."""
    run = context.tool.run("--json", "consolidate", context.work / "gap", context.work / "gap-json.pt")
    try:
        error = json.loads(run.stdout)["error"]
    except (ValueError, KeyError, TypeError):
        error = {}
    ok = error.get("exit_code") == run.returncode == INPUT and error.get("entry") == "model.w"
    context.report.check("gap: --json says exit code and entry", ok, run.stdout[-300:] or harness.said(run))


def peers_result(context, src):
    """(torch's run, the state dict that it wrote or None)"""
    out = context.work / (src.name + ".peer")
    peer = harness.peer_converter(src, out)
    if not out.exists():
        return peer, None
    state = torch.load(str(out), weights_only=False)
    out.unlink()
    return peer, state


def body(context):
    if harness.torch_version() < (2, 4):
        return context.report.not_in_this_torch("torch's converter and device meshes on which this comparison rests (2.4)")
    worlds = pool.Worlds()
    worlds.run(2, save, str(context.work / "sound"))
    context.converts("the sound checkpoint is consolidated", context.work / "sound", context.work / "sound.pt")
    for damage in (gap, overlap, outside_path, code_in_metadata, code_in_object, missing_input, flipped_bit, json_error):
        damage(context)
    return worlds.stop()


if __name__ == "__main__":
    sys.modules.setdefault("silent_failures", sys.modules["__main__"])
    harness.main(__file__, __doc__, body)
