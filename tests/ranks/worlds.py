"""What the tests of --ranks share: a run that is watched, and its ranks as /proc shows them."""
import dataclasses
import itertools
import os
import pathlib
import time
import unittest

import harness

MARK = "FSDPCKPT_TEST_RUN"  # in the environment of a run: its ranks inherit it
NUMBERS = itertools.count()
slow = unittest.skipUnless(os.environ.get("FSDPCKPT_SLOW") == "1", "FSDPCKPT_SLOW=1 runs it")


@dataclasses.dataclass
class Rank:
    pid: int
    state: str  # as in /proc: R, S, D, T (stopped)


def variables_of(pid):
    texts = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="surrogateescape").split("\0")
    return dict(text.partition("=")[::2] for text in texts if text)


def rank_processes(mark):
    """The living ranks of one run by their numbers; what has ended and was not waited for is none."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, after = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)
            if not name.endswith("(fsdpckpt-rank"):
                continue
            variables, state = variables_of(pid), after.split()[0]
        except OSError:  # it has ended meanwhile
            continue
        if variables.get(MARK) == mark and state not in "ZX":
            found[int(variables["FSDPCKPT_RANK"])] = Rank(int(pid), state)
    return found


class Run:
    """`fsdpckpt consolidate` with these arguments, started; `fault` is for FSDPCKPT_FAULT."""

    def __init__(self, test, *arguments, fault=None, **options):
        self.mark = f"{test.folder}-{next(NUMBERS)}"
        faults = {} if fault is None else {"FSDPCKPT_FAULT": fault}
        self.process = test.start("consolidate", *arguments, env={MARK: self.mark, **faults}, **options)
        test.addCleanup(self.end)

    def ranks(self):
        return rank_processes(self.mark)

    def has_ended(self):
        return self.process.poll() is not None

    def stopped(self):
        return [number for number, rank in self.ranks().items() if rank.state == "T"]

    def result(self):
        """Waits for the end."""
        out, err = self.process.communicate(timeout=100)
        return harness.Result(self.process.returncode, harness.text_of(out), harness.text_of(err))

    def seconds_after_loss(self, size):
        """Waits for the end; how long it took since one of `size` ranks was seen stopped or gone, or else since now."""
        loss, were_complete = None, False
        start = time.monotonic()
        while not self.has_ended():
            ranks = self.ranks()
            were_complete = were_complete or len(ranks) == size
            is_lost = (were_complete and len(ranks) < size) or any(rank.state == "T" for rank in ranks.values())
            loss = time.monotonic() if loss is None and is_lost else loss
            time.sleep(0.02)
        return time.monotonic() - (loss or start)

    def end(self):
        """Whatever a failed test has left."""
        for pid in [rank.pid for rank in self.ranks().values()]:
            os.kill(pid, 9)
        if not self.has_ended():
            self.process.kill()
        self.process.communicate(timeout=100)


def temporaries(test, target=""):
    return [name for name in test.listed() if name.startswith(f".{target}") and name.endswith(".tmp")]
