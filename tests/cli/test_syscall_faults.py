"""The built program on a system whose calls fail, by strace: exit code 4 and nothing left, or a way around the call."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import dcp
import harness

RUNS = {"new file": [], "over an old file": ["--force"]}


def traced(*injections):
    """Runs the program with these faults in it; what strace itself says goes nowhere."""
    options = [option for injection in injections for option in ("-e", f"inject={injection}")]
    return ["strace", "-f", "-qq", "-o", "trace", "-e", "trace=" + ",".join(sorted({i.split(":")[0] for i in injections})),
            *options]


def can_trace():
    command = ["strace", "-f", "-e", "inject=fsync:error=EIO", "true"]
    return shutil.which("strace") is not None and subprocess.run(command, capture_output=True).returncode == 0


class SyscallFaults(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 4, ranks=2).save()
        self.assert_ok(self.run_cli("consolidate", "ck", "whole.pt"))
        self.whole = (self.folder / "whole.pt").read_bytes()
        self.out = self.folder / "out.pt"

    def run_with(self, *injections, options=()):
        self.out.unlink(missing_ok=True)
        if "--force" in options:
            self.out.write_text("old")
        result = self.run_cli("consolidate", "ck", "out.pt", "-j", "1", *options, before=traced(*injections))
        self.trace = (self.folder / "trace").read_text()
        os.remove(self.folder / "trace")
        return result

    def fails(self, what, *injections, options=(), where="out.pt", named=False):
        """`named`: the fault comes after the file has got its name."""
        result = self.run_with(*injections, options=options)
        self.assertIn("(INJECTED)", self.trace)
        self.assertEqual((result.code, result.out, result.err), (4, "", harness.error_text(what, where)))
        found = self.out.read_bytes() if self.out.exists() else None
        self.assertEqual(found, self.whole if named else b"old" if "--force" in options else None)
        self.assertEqual([name for name in self.listed() if name != "out.pt"], ["ck", "whole.pt"])

    def works(self, *injections, options=()):
        result = self.run_with(*injections, options=options)
        self.assertIn("(INJECTED)", self.trace)
        self.assert_ok(result)
        self.assertEqual(self.out.read_bytes(), self.whole)
        self.assertEqual(self.listed(), ["ck", "out.pt", "whole.pt"])

    def test_write(self):
        for name, options in RUNS.items():
            for error, text in (("EIO", "Input/output error"), ("ENOSPC", "No space left on device"),
                                ("EDQUOT", "Disk quota exceeded")):
                for number in (1, 2, 3):
                    with self.subTest(name, error=error, number=number):
                        self.fails(f"cannot write: {text}", f"pwrite64:error={error}:when={number}", options=options)

    def test_write_that_is_interrupted(self):
        self.works("pwrite64:error=EINTR:when=1..6")
        self.works("pwrite64:error=EINTR:when=2+2")

    def test_write_of_nothing(self):
        self.fails("cannot write: Input/output error", "pwrite64:retval=0:when=2+")

    def test_sync(self):
        for name, options in RUNS.items():
            with self.subTest(name):
                for when in ("1", "1+"):
                    self.fails("cannot sync: Input/output error", f"fsync:error=EIO:when={when}", options=options)
                self.fails("cannot sync directory (the output is complete, but may not survive a power cut): "
                           "Input/output error", "fsync:error=EIO:when=2", options=options, named=True)
                self.works("fsync:error=EINVAL:when=2", options=options)
                self.works("fsync:error=EINTR:when=1", options=options)

    def test_start_of_writeback(self):
        self.fails("cannot write: Input/output error", "sync_file_range:error=EIO")
        self.works("sync_file_range:error=ENOSYS")

    def test_reservation(self):
        self.fails(f"cannot reserve {len(self.whole)} bytes: No space left on device", "fallocate:error=ENOSPC")
        for error in ("EOPNOTSUPP", "ENOSYS", "EINVAL"):
            self.works(f"fallocate:error={error}")
        self.works("fallocate:error=EINTR:when=1")
        self.fails("cannot set the file's size: File too large", "fallocate:error=EOPNOTSUPP", "ftruncate:error=EFBIG")

    def test_rename(self):
        self.fails("cannot rename the finished file into place: Input/output error", "renameat2:error=EIO")
        self.fails("cannot rename the finished file into place: Read-only file system", "rename:error=EROFS",
                   options=["--force"])
        for error in ("EINVAL", "ENOSYS"):
            self.works(f"renameat2:error={error}")
        self.fails("cannot rename the finished file into place: Too many links", "renameat2:error=EINVAL",
                   "link:error=EMLINK")
        result = self.run_with("renameat2:error=EINVAL", "link:error=EPERM")
        self.assertEqual((result.code, result.err), (4, harness.error_text(
            "this file system cannot rename a file without replacing what may be there", "out.pt",
            "pass --force: an existing output is then replaced")))
        self.assertEqual(self.listed(), ["ck", "whole.pt"])

    def test_nothing_is_replaced_where_links_stand_in_for_renames(self):
        """Another writer's file appears while this one is being synced."""
        process = self.start("consolidate", "ck", "out.pt",
                             before=traced("renameat2:error=EINVAL", "fsync:delay_enter=1000000:when=1"))
        self.assertTrue(harness.wait_for(lambda: any(name.endswith(".tmp") for name in self.listed())))
        self.out.write_text("other")
        out, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out.decode(), err.decode()), (5, "", harness.error_text(
            "output already exists", "out.pt", "pass --force to replace it")))
        self.assertEqual(self.out.read_text(), "other")
        self.assertEqual(self.listed(), ["ck", "out.pt", "trace", "whole.pt"])

    def test_signal_during_sync(self):
        """It waits for the disk, and the file gets no name."""
        for name, options in RUNS.items():
            with self.subTest(name):
                (self.folder / "trace").unlink(missing_ok=True)
                if options:
                    self.out.write_text("old")
                process = self.start("consolidate", "ck", "out.pt", *options,
                                     before=traced("fsync:delay_exit=1000000:when=1"))
                started = lambda: "fsync" in (self.folder / "trace").read_text()
                self.assertTrue(harness.wait_for(lambda: (self.folder / "trace").exists() and started()))
                children = f"/proc/{process.pid}/task/{process.pid}/children"
                (program,) = pathlib.Path(children).read_text().split()
                os.kill(int(program), signal.SIGTERM)
                out, err = process.communicate(timeout=100)
                self.assertEqual((process.returncode, out.decode(), err.decode()),
                                 (143, "", harness.error_text("terminated; nothing was left behind")))
                self.assertEqual(self.out.read_text() if self.out.exists() else None, "old" if options else None)
                self.assertFalse([left for left in self.listed() if left.endswith(".tmp")])

    def test_temporary_that_cannot_be_created(self):
        for error, text in (("ENOSPC", "No space left on device"), ("EDQUOT", "Disk quota exceeded"),
                            ("EROFS", "Read-only file system"), ("ENAMETOOLONG", "File name too long")):
            number = self.number_of_creation()
            self.fails(f"cannot create temporary: {text}", f"openat:error={error}:when={number}")

    def number_of_creation(self):
        self.run_with("openat:delay_enter=0")
        calls = self.trace.splitlines()
        return 1 + next(i for i, call in enumerate(calls) if "O_CREAT" in call)

    def test_close(self):
        self.run_with("openat:delay_enter=0", "close:delay_enter=0")
        calls = self.trace.splitlines()
        created = next(i for i, call in enumerate(calls) if "O_CREAT" in call)
        thread, descriptor = calls[created].split()[0], re.search(r"= (\d+)", calls[created]).group(1)
        closed = next(i for i in range(created, len(calls)) if f"close({descriptor})" in calls[i])
        number = sum(call.startswith(thread) and " close(" in call for call in calls[:closed + 1])
        for name, options in RUNS.items():
            self.fails("cannot close: Input/output error", f"close:error=EIO:when={number}", options=options)


if __name__ == "__main__":
    if can_trace():
        harness.main()
    else:
        print("not checked: strace cannot inject errors here")
