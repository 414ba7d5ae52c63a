#!/usr/bin/env python3
"""The torch of this environment, whatever its version, loads every output that the other scripts kept, safely.

Each file is loaded with weights_only=True, and with mmap=True from torch 2.1 on; every tensor must have its dtype,
shape and bytes. A file that holds a kind of data which this version cannot take from anybody is said and skipped.
Runs under Python 3.8 and torch 2.0.
"""
import json
from collections import Counter
from pathlib import Path

import harness

harness.enter_venv()
import torch  # noqa: E402

import kept  # noqa: E402


def text(version):
    return ".".join(map(str, version))


def problems(path, description, **how):
    try:
        state = torch.load(str(path), weights_only=True, **how)
    except Exception as e:
        return [f"{type(e).__name__}: {str(e)[:300]}"]
    return kept.compare(state, description)


def read_one(report, path, description, version):
    found = problems(path, description)
    if version >= (2, 1):
        found += problems(path, description, mmap=True)
    return report.check(f"torch {torch.__version__} loads {path.name}, {len(description['tensors'])} tensors", not found, "; ".join(found[:6]))


def body(context):
    version = harness.torch_version()
    files = sorted(Path(context.args.keep or ".").glob("*.pt"))
    if not files:
        context.report.check("outputs to read", False, f"no .pt in {context.args.keep}; run the other scripts with --keep first")
    too_new = Counter()
    for path in files:
        description = json.loads(path.with_suffix(".json").read_text())
        oldest = tuple(description["oldest_torch"])
        if version < oldest:
            too_new[oldest] += 1
        else:
            read_one(context.report, path, description, version)
    for oldest, count in sorted(too_new.items()):
        context.report.not_in_this_torch(f"{count} of {len(files)} files hold data that needs torch {text(oldest)}")


if __name__ == "__main__":
    harness.main(__file__, __doc__, body, needs_tool=False)
