#!/usr/bin/env python3
"""Writes the hand-made files of the fuzz corpus and their lines of REASONS.md; see CONTRIBUTING.md.

usage: make_attacks.py [CORPUS]     default: the folder corpus beside this file
A hand-made file has the name of a row of the threat list in SECURITY.md: P3-setitems-on-a-list. The lines of the
others, real files and what fuzzing found, are kept as they are.
"""
import pathlib
import re
import sys

from attacks import archives, indexes, pickles, plans, streams, torch_files

MODULES = (pickles, archives, indexes, torch_files, streams, plans)
IS_ATTACK = re.compile(r"- `\w+/[PZX]\d+-")


def attacks():
    """(name with its folder, outcome in words, reason, bytes) of every hand-made file."""
    for module in MODULES:
        for name, outcome, reason, data in module.ATTACKS:
            word = f"refused {outcome}" if isinstance(outcome, int) else outcome
            yield f"{module.TARGET}/{name}", word, reason, data


def lines():
    return [f"- `{name}` {outcome}: {reason}" for name, outcome, reason, _ in attacks()]


def write(corpus):
    for old in corpus.glob("*/[PZX][0-9]*-*"):
        old.unlink()
    for name, _, _, data in attacks():
        path = corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    reasons = corpus / "REASONS.md"
    kept = [line for line in reasons.read_text().splitlines() if not IS_ATTACK.match(line)]
    head = [line for line in kept if not line.startswith("- ")]
    entries = sorted([line for line in kept if line.startswith("- ")] + lines())
    reasons.write_text("\n".join(head + entries) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
