#!/usr/bin/env python3
"""Checkpoints that real torch versions and real frameworks wrote, consolidated, equal what their own tools made of them.

Every directory of fixtures/torch by its manifest (check.py), every directory of fixtures/frameworks that needs no
option by its framework's full checkpoint, and the frameworks themselves load our files (loadback.py).
"""
import os
import re
import shlex
import subprocess
import sys

import harness

harness.enter_venv()
import archive_audit  # noqa: E402

FULL_AND_OWN = ["expected/full.pt", "expected/consolidated.pt"]
# source below fixtures/frameworks -> what its output must equal, below the framework's folder
ROWS = {
    "fabric_fsdp_plain/ckpt": FULL_AND_OWN,
    "fabric_mp/ckpt": FULL_AND_OWN,
    "fabric_fsdp_odd/ckpt": ["expected/full.pt"],
    "pl_fsdp/last.ckpt": ["expected/consolidated_fabric.ckpt"],
    "pl_mp/last.ckpt": ["expected/consolidated_fabric.ckpt"],
    "plain_dcp_fsdp2/ckpt": ["expected/dcp_to_torch.pt"],
    "plain_dcp_flat_optim/ckpt": ["expected/dcp_to_torch.pt"],
    "plain_dcp_prefixes/ckpt": ["expected/dcp_to_torch.pt"],
    "plain_dcp_fsdp1_flat/ckpt": ["expected/full.pt"],
    "torchtitan/checkpoint/step-2": ["expected/dcp_to_torch_step2.pt"],
    "torchtitan/checkpoint/step-3": ["expected/dcp_to_torch_step3.pt"],
}
MEGATRON = "megatron_torch_dist/iter_0000005"
MEGATRON_OBJECTS = ["decoder.final_layernorm._extra_state/shard_0_1", "rng_state/shard_0_2", "rng_state/shard_1_2"]
WEIGHTS_ONLY = ("fabric_fsdp_plain/ckpt", "fabric_mp/ckpt")
NOT_WEIGHTS_ONLY = ("fabric_fsdp_odd/ckpt",)  # holds an object of the user's own class


def check_by_manifest(context):
    """fixtures/torch/check.py prints a line a fixture; each becomes one check."""
    script = context.fixtures / "fixtures" / "check.py"
    command = f"{shlex.quote(context.tool.binary)} consolidate {{src}} {{dst}}"
    argv = [sys.executable, str(script), "--cmd", command, "--keep", str(context.work)]
    run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    for line in run.stdout.splitlines():
        verdict, _, rest = line.partition(" ")
        name = rest.split()[0] if rest.split() else ""
        if verdict == "ok":
            context.report.check(f"{name} by its manifest", audit_and_keep(context, name, rest), rest)
        elif verdict == "refused":  # allowed where one rank's objects are all that was saved; a crash is no refusal
            context.report.check(f"{name} is refused in an orderly way", re.search(r"exit [35]:", rest), rest)
        elif verdict in ("FAILED", "WRONG"):
            context.report.check(f"{name} by its manifest", False, rest)
    last = (run.stdout.strip().splitlines() or ["no output"])[-1]
    context.report.check(f"check.py: {last}", run.returncode == 0)


def audit_and_keep(context, name, rest):
    path = context.work / (name.replace("/", "_") + ".pt")
    problems, _ = archive_audit.audit(path)
    if problems:
        return context.report.check(f"{name}: archive", False, "; ".join(problems[:4]))
    if "not weights_only" not in rest:
        context.keep(name.replace("/", "_"), path)
    return True


def readme_sources(context):
    """The sources of the README's table that need no option, to notice rows that are not in ROWS."""
    text = (context.fixtures / "fixtures" / "frameworks" / "README.md").read_text()
    found = set()
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and not re.search(r"--\w", cells[1]) and "/" in cells[0]:
            first = None
            for source in cells[0].split(","):
                source = source.strip()
                # "torchtitan/checkpoint/step-2, step-3": a bare name lies beside the first
                found.add(source if "/" in source else first.rsplit("/", 1)[0] + "/" + source)
                first = first or source
    return found


def loadback(context, mode, out, expected, *options, ranks=0):
    """One call of loadback.py; (ok, what it said)."""
    here = context.fixtures / "fixtures" / "frameworks"
    start = [os.path.join(os.path.dirname(sys.executable), "torchrun"), "--standalone", "--nproc-per-node", str(ranks)] if ranks else [sys.executable]
    argv = [*start, "loadback.py", mode, str(out), str(here / expected), *options]
    run = subprocess.run(argv, cwd=str(here), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, encoding="utf-8", errors="replace")
    said = [line for line in run.stdout.splitlines() if re.match(r"DIFF|SAME|REFUSED|\d+ DIFF", line)]
    return any(line.startswith("SAME") for line in said), " / ".join(said[:6]) or run.stdout[-400:]


def output_of(context, source):
    return context.work / (source.replace("/", "_") + ".pt")


def compare_rows(context):
    here = context.fixtures / "fixtures" / "frameworks"
    unknown = readme_sources(context) ^ (set(ROWS) | {MEGATRON})
    context.report.check("every row of the frameworks' table that needs no option is here", not unknown, str(sorted(unknown)))
    for source, expectations in ROWS.items():
        out = output_of(context, source)
        if not context.converts(f"{source} is consolidated", here / source, out):
            continue
        problems, _ = archive_audit.audit(out)
        context.report.check(f"{source}: archive", not problems, "; ".join(problems[:4]))
        for expected in expectations:
            wanted = source.split("/")[0] + "/" + expected
            context.report.check(f"{source} equals {wanted}", *loadback(context, "compare", out, wanted))
        if source not in NOT_WEIGHTS_ONLY:
            keep_if_clean(context, source, out)


def keep_if_clean(context, source, out):
    import torch
    try:
        torch.load(str(out), weights_only=True)
    except Exception as e:
        context.report.check(f"{source}: weights_only", False, f"{type(e).__name__}: {str(e)[:200]}")
    else:
        context.keep(source.replace("/", "_"), out)


def tensors_of(state, path=()):
    import torch
    if isinstance(state, torch.Tensor):
        yield path, state
    elif isinstance(state, (dict, list, tuple)):
        for key, value in (state.items() if isinstance(state, dict) else enumerate(state)):
            yield from tensors_of(value, path + (key,))


def megatron(context):
    """Megatron's full checkpoint has the tensors only; the directory has objects besides."""
    import torch
    import deep_equal
    import kept
    here = context.fixtures / "fixtures" / "frameworks"
    out = output_of(context, MEGATRON)
    if not context.converts(f"{MEGATRON} is consolidated", here / MEGATRON, out):
        return
    got = torch.load(str(out), weights_only=False)
    want = dict(tensors_of(torch.load(str(here / "megatron_torch_dist/expected/full.pt"), weights_only=False)))
    wrong = []
    for path, tensor in want.items():
        try:
            found = deep_equal.differences(kept.at(got, path), tensor)
        except (KeyError, IndexError, TypeError):
            found = ["missing"]
        wrong += [f"{path}: {f}" for f in found]
    context.report.check(f"{MEGATRON}: all {len(want)} tensors of its full checkpoint", want and not wrong, "; ".join(wrong[:6]))
    besides = sorted(set(got) - {path[0] for path in want})
    context.report.check(f"{MEGATRON}: its objects besides", besides == MEGATRON_OBJECTS, str(besides))


def frameworks_load(context):
    report = context.report
    for source in WEIGHTS_ONLY:
        folder, out = source.split("/")[0], output_of(context, source)
        full = f"{folder}/expected/full.pt"
        if not out.exists():
            report.check(f"{source} in its framework", False, "was not consolidated")
            continue
        report.check(f"torch.load(weights_only=True) of {source}", *loadback(context, "torchload", out, full))
        report.check(f"Ignite loads {source}", *loadback(context, "ignite", out, full))
        for strategy in ("fsdp", "mp"):
            report.check(f"Fabric, 2 ranks, strategy {strategy}, loads {source}",
                         *loadback(context, "fabric", out, full, "--strategy", strategy, ranks=2))


def body(context):
    if not context.fixtures:
        return context.report.skip("fixtures", "no --fixtures DIR")
    if harness.torch_version() < (2, 4):
        return context.report.not_in_this_torch("what the fixtures' own scripts use (2.4)")
    check_by_manifest(context)
    compare_rows(context)
    megatron(context)
    try:
        import ignite  # noqa: F401
        import lightning  # noqa: F401
    except ImportError as e:
        return context.report.skip("loading in the frameworks", f"{e} (pip install lightning pytorch-ignite)")
    frameworks_load(context)


if __name__ == "__main__":
    harness.main(__file__, __doc__, body)
