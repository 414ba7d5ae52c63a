"""The built program on every file of the fuzz corpus, and on sampled damage of a real checkpoint: it ends by itself, soon,
and in little memory."""
import os
import pathlib
import random
import resource
import shutil
import subprocess

from harness import BINARY, CliTest, main, text_of

CORPUS = pathlib.Path(__file__).parent / "corpus"
SANITIZED = os.environ.get("FSDPCKPT_SANITIZED") == "1"
CLEAN = (0, 3, 5)
MOST_SECONDS, MOST_BYTES = 1.0, 256_000_000
RUNAWAY_BYTES = 2 << 30
MUTANTS = 500


def bound():
    """A run that does not end is ended by the system."""
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (RUNAWAY_BYTES, RUNAWAY_BYTES))


class Bounded(CliTest):
    def run_bounded(self, *arguments):
        """The exit code; time and memory are checked, whatever it is."""
        with open(self.folder / "output", "wb") as output:
            process = subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, env=self.environment(), preexec_fn=bound)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said = text_of((self.folder / "output").read_bytes()[-300:])
        self.assertIn(process.returncode, CLEAN, said)
        if not SANITIZED:
            self.assertLess(used.ru_utime + used.ru_stime, MOST_SECONDS, said)
            self.assertLess(used.ru_maxrss * 1024, MOST_BYTES, said)
        return process.returncode


class Corpus(Bounded):
    def test_as_metadata_and_as_torch_file(self):
        os.mkdir(self.folder / "ck")
        for name in ("__0_0.distcp", "__1_0.distcp"):
            with open(self.folder / "ck" / name, "wb") as file:
                file.truncate(1 << 20)
        for path in sorted(CORPUS.glob("*/*")):
            with self.subTest(path.relative_to(CORPUS)):
                shutil.copyfile(path, self.folder / "ck" / ".metadata")
                shutil.copyfile(path, self.folder / "f.pt")
                self.run_bounded("inspect", "ck")
                self.run_bounded("inspect", "f.pt")
                if path.parent.name == "dcp_metadata":
                    self.run_bounded("consolidate", "ck", "out.pt", "--no-fsync", "--force")


class Mutants(Bounded):
    """One flipped bit each; of a rank file, whose items have checksums, nothing but the same output may come."""

    def setUp(self):
        super().setUp()
        self.copy("torch-2.4.1/dt_s0_w2")
        self.assertEqual(self.consolidate(), 0)
        self.whole = (self.folder / "out.pt").read_bytes()
        self.random = random.Random(20250302)

    def consolidate(self):
        return self.run_bounded("consolidate", "ck", "out.pt", "--no-fsync", "--force", "-j", "1")

    def mutants(self, names, count):
        """Damages one of the files, lets the caller look, and mends it."""
        for _ in range(count):
            path = self.folder / "ck" / self.random.choice(names)
            content = path.read_bytes()
            damaged = bytearray(content)
            bit = self.random.randrange(8 * len(content))
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            with self.subTest(path.name, bit=bit):
                yield
            path.write_bytes(content)

    def test_of_metadata_end_cleanly(self):
        for _ in self.mutants([".metadata"], MUTANTS // 2):
            self.run_bounded("inspect", "ck")
            self.consolidate()

    def test_of_rank_files_are_refused_or_change_nothing(self):
        for _ in self.mutants(["__0_0.distcp", "__1_0.distcp"], MUTANTS // 2):
            self.run_bounded("inspect", "ck")
            if self.consolidate() == 0:
                self.assertEqual((self.folder / "out.pt").read_bytes(), self.whole)


if __name__ == "__main__":
    main()
