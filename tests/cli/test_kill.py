"""kill -9 at any time: DST is absent, the old one, or complete, the source is as it was, and a rerun succeeds.

FSDPCKPT_KILLS is the number of kills of each kind. Some come at a time by chance; some when the program has written
so many bytes, when it has written all, and when the file has got its name, so that every phase is hit.
"""
import collections
import hashlib
import os
import pathlib
import random
import signal
import time
import zipfile

import dcp
import harness

KILLS = int(os.environ.get("FSDPCKPT_KILLS", "12"))
OLD = b"the old file"
TENSORS, ROWS = 4, 24  # of 256 KiB each: 24 MiB together


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Kill(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)
        self.write_source()
        self.source = self.looked_at()
        self.complete = self.reference()
        self.found = collections.Counter()

    def write_source(self):
        made, self.values = dcp.Directory(self.folder / "ck"), []
        for i in range(TENSORS):
            self.values.append(self.random.randbytes(ROWS << 18))
            made.tensor(f"w{i}", (ROWS, 1 << 16), [((0, 0), (ROWS, 1 << 16), f"__{i}_0.distcp", self.values[i])])
        made.save()

    def reference(self):
        """The digest of an undisturbed run's file, which holds the values that were put into the source."""
        start = time.monotonic()
        self.assert_ok(self.run_cli("consolidate", "ck", "reference.pt", "-j", "1"))
        self.seconds = time.monotonic() - start
        path = self.folder / "reference.pt"
        self.size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            data = [name for name in archive.namelist() if "/data/" in name]
            self.assertEqual([archive.read(name) for name in data], self.values)
        reference = digest(path)
        path.unlink()
        return reference

    def looked_at(self):
        """Content and times of the source."""
        return {name: (digest(self.folder / "ck" / name), os.stat(self.folder / "ck" / name).st_mtime_ns)
                for name in self.listed("ck")}

    def temporaries(self):
        return [name for name in self.listed() if name.endswith(".tmp")]

    def written(self, process):
        """Bytes that the program has given to write calls."""
        try:
            counts = pathlib.Path(f"/proc/{process.pid}/io").read_text()
        except (OSError, ProcessLookupError):
            return self.size
        return int(dict(line.split(": ") for line in counts.splitlines())["wchar"])

    def moments(self, process):
        """Ways to wait for a moment worth a kill; each ends, also when the program is over before."""
        part = self.random.random()
        is_over = lambda: process.poll() is not None
        until = lambda condition: harness.wait_for(lambda: is_over() or condition())
        pause = lambda: time.sleep(self.random.random() * self.seconds / 4)
        return {
            "at any time": lambda: time.sleep(1.2 * part * self.seconds),
            "while copying": lambda: until(lambda: self.written(process) > part * self.size),
            "while syncing": lambda: (until(lambda: self.written(process) >= self.size), pause()),
            "when named": lambda: (until(self.temporaries), until(lambda: not self.temporaries())),
        }

    def state(self):
        out = self.folder / "out.pt"
        if not out.exists():
            return "absent"
        if out.read_bytes() == OLD:
            return "old"
        self.assertEqual(digest(out), self.complete, "neither old nor complete")
        return "complete"

    def kill_one(self, number, options, before):
        process = self.start_slow("consolidate", "ck", "out.pt", *options)
        moments = self.moments(process)
        moment = list(moments)[number % len(moments)]
        moments[moment]()
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=100)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), (out, err))
        state = self.state()
        self.assertIn(state, ["complete"] if process.returncode == 0 else [before, "complete"])
        left = self.temporaries()
        self.assertLessEqual(len(left), 0 if state == "complete" else 1)
        ended = "" if process.returncode else ", run was over"
        self.found[moment, f"{state}{', temporary left' if left else ''}{ended}"] += 1
        self.rerun(left)

    def rerun(self, left):
        """It names what was left and lets it lie: another run may own it."""
        result = self.run_cli("consolidate", "ck", "out.pt", "--force", "--no-fsync")
        notes = [f"fsdpckpt: note: left by an interrupted run, or in use by another: '{name}'\n" for name in left]
        self.assert_ok(result, err="".join(notes))
        self.assertEqual((self.state(), self.temporaries()), ("complete", left))
        for name in left:
            os.remove(self.folder / name)

    def kill_all(self, before, options=()):
        for number in range(KILLS):
            (self.folder / "out.pt").unlink(missing_ok=True)
            if before == "old":
                (self.folder / "out.pt").write_bytes(OLD)
            self.kill_one(number, options, before)
        self.assertEqual(self.looked_at(), self.source)
        print(f"{KILLS} kills, DST {before} at the start:")
        for (moment, state), count in sorted(self.found.items()):
            print(f"  {moment:14}  {state:36} {count:4}")
        states = {state.split(",")[0] for _, state in self.found}
        self.assertEqual(states, {before, "complete"}, "the kills did not hit all phases")

    def test_new_file(self):
        self.kill_all("absent")

    def test_over_an_old_file(self):
        self.kill_all("old", ["--force"])


if __name__ == "__main__":
    harness.main()
