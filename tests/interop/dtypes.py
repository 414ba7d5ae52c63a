#!/usr/bin/env python3
"""Every dtype that this torch can save, as (2, 3), 0-dim and (0, 3): same bits, only the permitted globals, true CRCs.

The twelve classic dtypes must be written as version 2 tensors, which every torch since 2.0 loads with weights_only.
"""
import math
import shutil
import subprocess

import harness

harness.enter_venv()
import torch  # noqa: E402

import archive_audit  # noqa: E402
import deep_equal  # noqa: E402
from trees import CLASSIC, NEWER  # noqa: E402

BITS = ["bits8", "bits16", "bits1x8", "bits2x4", "bits4x2"]
ALWAYS = {"collections.OrderedDict", "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2"}


def tensors(name):
    """The three shapes, of random bytes, each with a storage of its own."""
    dtype = getattr(torch, name)
    size = torch.empty((), dtype=dtype).element_size()
    generator = torch.Generator().manual_seed(len(name))

    def of(*shape):
        count = math.prod(shape)
        data = torch.randint(0, 2 if name == "bool" else 256, (count * size,), dtype=torch.uint8, generator=generator)
        return data.view(dtype).reshape(shape)
    return {"matrix": of(2, 3), "scalar": of(), "empty": of(0, 3)}


def allowed(name):
    if name in CLASSIC:
        return ALWAYS | {f"torch.{archive_audit.CLASSIC[name]}Storage"}
    return ALWAYS | {"torch._utils._rebuild_tensor_v3", "torch.storage.UntypedStorage", f"torch.{name}"}


def save(name, src):
    """As tensor entries, or inside one object where this torch's planner cannot size the dtype; what was saved, or None."""
    state = tensors(name)
    try:
        torch.save(state, str(src) + ".probe")
    except Exception:
        return None
    try:
        harness.save_alone(state, src)
    except BaseException:  # CheckpointException is not an Exception
        shutil.rmtree(str(src), ignore_errors=True)
        state = {"object": tuple(state.values())}
        harness.save_alone(state, src)
    return state


def judge(context, name, state, out):
    report = context.report
    problems, archive = archive_audit.audit(out)
    report.check(f"{name}: archive, CRCs and sizes", not problems, "; ".join(problems[:4]))
    if archive is None:
        return
    report.check(f"{name}: globals", archive.globals <= allowed(name), str(sorted(archive.globals - allowed(name))))
    for how in [{}, {"mmap": True}] if harness.torch_version() >= (2, 1) else [{}]:
        try:
            found = deep_equal.differences(torch.load(str(out), weights_only=True, **how), state)
        except Exception as e:
            found = [f"{type(e).__name__}: {str(e)[:200]}"]
        report.check(f"{name}: bit for bit{' with mmap' if how else ''}", not found, "; ".join(found[:4]))
    if shutil.which("unzip"):
        run = subprocess.run(["unzip", "-tqq", str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        report.check(f"{name}: unzip -t", run.returncode == 0, run.stdout.decode("utf-8", "replace")[-200:])
    context.keep(name, out)


def body(context):
    if not shutil.which("unzip"):
        context.report.skip("unzip -t", "unzip is not installed")
    for name in CLASSIC + NEWER + BITS:
        src, out = context.work / name, context.work / f"{name}.pt"
        state = save(name, src) if hasattr(torch, name) else None
        if state is None:
            context.report.not_in_this_torch(f"saving {name}")
            continue
        if "object" in state:
            context.report.not_in_this_torch(f"{name} as a tensor entry of DCP; it is tried inside an object")
        if context.converts(f"{name} is consolidated", src, out):
            judge(context, name, state, out)


if __name__ == "__main__":
    harness.main(__file__, __doc__, body)
