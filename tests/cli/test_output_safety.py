"""DST is absent, the old one, or whole: full disks, limits, broken pipes, two writers."""
import os
import resource
import stat
import subprocess
import tempfile

import dcp
import harness

FULL = ("cannot write to stdout: No space left on device",)


class Stdout(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def test_full(self):
        for arguments in (["inspect", "ck"], ["--json", "inspect", "ck"], ["inspect", "ck", "--keys"], ["help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                self.assert_fails(arguments, 4, FULL, stdout=full)

    def test_closed(self):
        for arguments in (["inspect", "ck"], ["--version"]):
            command = [harness.BINARY, *arguments]
            result = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], cwd=self.folder, capture_output=True)
            self.assertEqual((result.returncode, result.stderr.decode()),
                             (4, harness.error_text("cannot write to stdout: Bad file descriptor")))

    def test_reader_leaves_early(self):
        """As `| head -1` does: no error, no message."""
        made = dcp.Directory(self.folder / "many")
        for i in range(3000):
            made.tensor(f"model.layers.{i}.weight", (1,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        for arguments in (["inspect", "many"], ["inspect", "many", "--keys"], ["--json", "inspect", "many"]):
            process = self.start(*arguments, bufsize=0)
            process.stdout.read(1)
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait()), (b"", 0), arguments)
            process.stderr.close()


class FileToStdout(harness.CliTest):
    """`consolidate SRC -`: what does not arrive is an error, since half a file is none."""

    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 4, ranks=2).save()

    def fails(self, reason, **options):
        result = self.run_cli("consolidate", "ck", "-", **options)
        self.assertEqual((result.code, result.err), (4, harness.error_text(f"cannot write: {reason}", "stream")))
        self.assertEqual(self.listed(), ["ck"])

    def test_full(self):
        with open("/dev/full", "wb") as full:
            self.fails("No space left on device", stdout=full)

    def test_reader_leaves_early(self):
        ours, theirs = os.pipe()
        os.close(ours)
        self.fails("Broken pipe", stdout=theirs)
        os.close(theirs)

    def test_file_size_limit(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        with tempfile.TemporaryFile() as file:
            self.fails("File too large", stdout=file, preexec_fn=limit)
            self.assertEqual(file.seek(0, os.SEEK_END), 1 << 20)


class AnswerToFullStdout(harness.CliTest):
    def test_file_is_complete_all_the_same(self):
        dcp.small(self.folder / "ck").save()
        self.assert_ok(self.run_cli("consolidate", "ck", "whole.pt"))
        with open("/dev/full", "wb") as full:
            result = self.run_cli("consolidate", "ck", "out.pt", stdout=full)
        self.assertEqual((result.code, result.err), (4, harness.error_text(*FULL)))
        self.assertEqual(self.listed(), ["ck", "out.pt", "whole.pt"])
        self.assertEqual((self.folder / "out.pt").read_bytes(), (self.folder / "whole.pt").read_bytes())


class FullDisk(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 4, ranks=2).save()

    def full_at(self, size, code, message):
        """A disk of `size` for DST: nothing is left on it."""
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], capture_output=True)
        if mounted.returncode != 0:
            print("not checked: no tmpfs can be mounted here (it needs root)")
            return
        try:
            for options in ([], ["-n"], ["--no-fsync"]):
                result = self.run_cli("consolidate", "ck", "disk/out.pt", *options)
                self.assertEqual((result.code, result.out), (code, ""))
                self.assertRegex(result.err, message + r"\Z")
                self.assertEqual(self.listed("disk"), [])
            left = ".out.pt.fsdpckpt-1-2.tmp"
            (disk / left).write_text("")
            self.assertRegex(self.run_cli("consolidate", "ck", "disk/out.pt").err,
                             message + rf"  try: remove '{left}' unless another run is using it\n\Z")
            self.assertEqual(self.listed("disk"), [left])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_full_disk(self):
        self.full_at("1m", 4, r"\Afsdpckpt: error: not enough space: \d+ bytes \(4\.0 MiB\) are needed, "
                              r"1048576 bytes \(1\.0 MiB\) are free\n  in:  disk\n")

    def test_file_size_limit(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        result = self.run_cli("consolidate", "ck", "out.pt", preexec_fn=limit)
        self.assertEqual((result.code, result.out, self.listed()), (4, "", ["ck"]))
        self.assertRegex(result.err, r"\Afsdpckpt: error: cannot reserve \d+ bytes: File too large\n  in:  out\.pt\n\Z")


class Result(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()
        self.out = self.folder / "out.pt"

    def test_mode_follows_the_umask(self):
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664), (0o000, 0o666)):
            self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-f", umask=mask))
            self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), mode)

    def test_force_replaces_the_whole_file(self):
        self.out.write_bytes(bytes(100_000))
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-f"))
        self.assert_ok(self.run_cli("consolidate", "ck", "two.pt"))
        self.assertEqual(self.out.read_bytes(), (self.folder / "two.pt").read_bytes())

    def test_source_is_never_changed(self):
        read = lambda: {name: ((self.folder / "ck" / name).read_bytes(), os.stat(self.folder / "ck" / name).st_mtime_ns)
                        for name in self.listed("ck")}
        before = read()
        for options in ([], ["-f"], ["-f", "--verify"], ["-f", "--objects", "drop"]):
            self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", *options),
                           err="fsdpckpt: note: 1 object is left out (--objects drop)\n" if "drop" in options else "")
        self.assertEqual(read(), before)

    def test_read_only_source(self):
        for name in self.listed("ck"):
            (self.folder / "ck" / name).chmod(0o444)
        (self.folder / "ck").chmod(0o555)
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"))

    def test_left_over_file_is_named_and_kept(self):
        stale = ".out.pt.fsdpckpt-1-2.tmp"
        (self.folder / stale).write_text("")
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assert_ok(result, err=f"fsdpckpt: note: left by an interrupted run, or in use by another: '{stale}'\n")
        self.assertEqual(self.listed(), [stale, "ck", "out.pt"])

    def test_equal_input_gives_equal_bytes(self):
        for name, options in (("a.pt", ["-j", "1"]), ("b.pt", ["-j", "8", "--memory-limit", "1M"]), ("c.pt", ["--verify"])):
            self.assert_ok(self.run_cli("consolidate", "ck", name, *options))
        contents = {(self.folder / name).read_bytes() for name in ("a.pt", "b.pt", "c.pt")}
        self.assertEqual(len(contents), 1)


class TwoWriters(harness.CliTest):
    def test_exactly_one_wins(self):
        dcp.small(self.folder / "ck").save()
        for _ in range(10):
            processes = [self.start("consolidate", "ck", "out.pt") for _ in range(3)]
            errors = [process.communicate()[1].decode() for process in processes]
            self.assertEqual(sorted(process.returncode for process in processes), [0, 5, 5], errors)
            self.assertEqual(self.listed(), ["ck", "out.pt"])
            self.assertEqual(self.run_cli("inspect", "out.pt").code, 0)
            os.remove(self.folder / "out.pt")

    def test_with_force_the_last_one_wins_whole(self):
        """A reader sees one of the files at any time, never a mixture or nothing."""
        whole = set()
        for i in range(3):
            made = dcp.Directory(self.folder / f"ck{i}")
            made.tensor("w", (1 << 20,), [((0,), (1 << 20,), "__0_0.distcp", bytes([i + 1]) * (4 << 20))])
            made.save()
            self.assert_ok(self.run_cli("consolidate", f"ck{i}", f"{i}.pt"))
            whole.add((self.folder / f"{i}.pt").read_bytes())
        self.assertEqual(len(whole), 3)
        before = self.listed()
        self.assert_ok(self.run_cli("consolidate", "ck0", "out.pt"))
        for _ in range(5):
            processes = [self.start("consolidate", f"ck{i}", "out.pt", "--force") for i in range(3)]
            while any(process.poll() is None for process in processes):
                self.assertIn((self.folder / "out.pt").read_bytes(), whole)
            errors = [process.communicate()[1].decode() for process in processes]
            self.assertEqual([process.returncode for process in processes], [0, 0, 0], errors)
            self.assertIn((self.folder / "out.pt").read_bytes(), whole)
            self.assertEqual(self.listed(), sorted([*before, "out.pt"]))


if __name__ == "__main__":
    harness.main()
