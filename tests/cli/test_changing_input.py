"""A source that changes while it is read: exit code 4, the file's name, and no DST."""
import os
import signal

import dcp
import harness

RANKS = 8


def replace(path):
    """Another file of the same size and times under the name."""
    status = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, path)


def grow(path):
    with open(path, "ab") as file:
        file.write(b"x")


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


def touch(path):
    os.utime(path)


def overwrite(path):
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"x")


def remove(path):
    os.remove(path)


CHANGES = (replace, grow, cut, empty, touch, overwrite, remove)


class ChangingInput(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 128, ranks=RANKS).save()

    def changed(self, change, name, options=()):
        """Stops a run while it copies, changes a file of the source, and lets it go on."""
        before = self.listed()
        process = self.start_slow("consolidate", "ck", "out.pt", *options)
        harness.stop_while_writing(self, process)
        change(self.folder / "ck" / name)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out.decode()), (4, ""), err)
        self.assertEqual(self.listed(), before)
        return err.decode()

    def test_rank_file_that_is_read_first(self):
        for change in CHANGES:
            with self.subTest(change.__name__):
                err = self.changed(change, "__0_0.distcp")
                self.assertRegex(err, r"\Afsdpckpt: error: changed while being read\n  in:  ck/__0_0\.distcp(, entry 'w0'.*)?\n\Z")
                dcp.big(self.folder / "ck", 128, ranks=RANKS).save()

    def test_rank_file_that_is_read_last(self):
        for change in CHANGES:
            with self.subTest(change.__name__):
                err = self.changed(change, f"__{RANKS - 1}_0.distcp")
                self.assertRegex(err, rf"\Afsdpckpt: error: changed while being read\n  in:  ck/__{RANKS - 1}_0\.distcp(, entry 'w7'.*)?\n\Z")
                dcp.big(self.folder / "ck", 128, ranks=RANKS).save()

    def test_metadata(self):
        for change in CHANGES:
            with self.subTest(change.__name__):
                err = self.changed(change, ".metadata")
                self.assertEqual(err, harness.error_text("changed while being read", "ck/.metadata"))
                dcp.big(self.folder / "ck", 128, ranks=RANKS).save()

    def test_old_output_stays(self):
        (self.folder / "out.pt").write_text("old")
        self.changed(touch, "__0_0.distcp", ["--force"])
        self.assertEqual((self.folder / "out.pt").read_text(), "old")


if __name__ == "__main__":
    harness.main()
