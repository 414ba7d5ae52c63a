"""What the system forbids: exit code 4, its reason and the path, and nothing is left or changed."""
import os
import shutil
import stat
import subprocess

import dcp
import harness

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def works(*command):
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0


class Permissions(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()
        self.place = self.folder / "place"
        self.place.mkdir()

    def can(self, what, *command):
        """Says so when something cannot be checked here."""
        if works(*command):
            return True
        print(f"not checked: {what} (it needs root)")
        return False

    def unprivileged(self):
        """How to run the program as one for whom permissions count; none when that cannot be."""
        if os.getuid() != 0:
            return []
        self.folder.chmod(0o755)
        return NOBODY if self.can("as nobody", *NOBODY, harness.BINARY, "--version") else None

    def fails(self, what, where, hint="", options=(), before=(), target="place/out.pt", dry_run=True):
        was = self.listed("place")
        for extra in ([], ["-n"]) if dry_run else ([],):
            result = self.run_cli("consolidate", "ck", target, *options, *extra, before=before)
            self.assertEqual((result.code, result.out, result.err), (4, "", harness.error_text(what, where, hint)))
            self.assertEqual(self.listed("place"), was)

    def test_folder_that_cannot_be_written(self):
        before = self.unprivileged()
        if before is None:
            return
        self.place.chmod(0o555)
        self.fails("cannot write into directory: Permission denied", "place", before=before)
        self.place.chmod(0o444)  # not even looked into
        self.fails("cannot look at: Permission denied", "place/out.pt", before=before)

    def test_folder_that_cannot_be_read(self):
        """Written it can be, but not synced; that must not show after the copy."""
        before = self.unprivileged()
        if before is None:
            return
        self.place.chmod(0o333)
        self.fails("cannot open directory to sync it: Permission denied", "place", "pass --no-fsync", before=before)
        self.assert_ok(self.run_cli("consolidate", "ck", "place/out.pt", "--no-fsync", before=before))
        self.assertEqual(self.listed("place"), ["out.pt"])

    def test_file_of_another_user(self):
        """Who may write the folder may replace its files; in a sticky one only its owner may."""
        before = self.unprivileged()
        if not before:
            print("not checked: a file of another user (it needs root)")
            return
        (self.place / "out.pt").write_text("old")
        (self.place / "out.pt").chmod(0o400)
        self.place.chmod(0o1777)
        self.fails("cannot rename the finished file into place: Operation not permitted", "place/out.pt",
                   options=["--force"], before=before, dry_run=False)
        self.assertEqual((self.place / "out.pt").read_text(), "old")
        self.place.chmod(0o777)
        self.assert_ok(self.run_cli("consolidate", "ck", "place/out.pt", "--force", before=before))
        self.assertEqual(stat.S_IMODE((self.place / "out.pt").stat().st_mode), 0o644)

    def test_input_that_cannot_be_read(self):
        before = self.unprivileged()
        if before is None:
            return
        self.place.chmod(0o777)
        (self.folder / "ck/__1_0.distcp").chmod(0)
        self.fails("cannot open: Permission denied", "ck/__1_0.distcp", before=before)
        (self.folder / "ck/.metadata").chmod(0)
        self.fails("cannot open: Permission denied", "ck/.metadata", before=before)
        (self.folder / "ck").chmod(0)
        result = self.run_cli("consolidate", "ck", "place/out.pt", before=before)
        self.assertEqual((result.code, self.listed("place")), (4, []))
        self.assertIn("Permission denied\n  in:  ck", result.err)
        (self.folder / "ck").chmod(0o755)

    def test_read_only_file_system(self):
        if not self.can("a read-only file system", "mount", "-t", "tmpfs", "-o", "ro", "none", self.place):
            return
        self.addCleanup(subprocess.run, ["umount", self.place], check=True)
        self.fails("cannot write into directory: Read-only file system", "place")

    def immutable(self, path):
        if not self.can("what may not be changed at all", "chattr", "+i", path):
            return False
        self.addCleanup(subprocess.run, ["chattr", "-i", path], check=True)
        return True

    def test_immutable_folder(self):
        if self.immutable(self.place):
            self.fails("cannot write into directory: Operation not permitted", "place")

    def test_immutable_old_file(self):
        (self.place / "out.pt").write_text("old")
        if self.immutable(self.place / "out.pt"):
            self.fails("cannot rename the finished file into place: Operation not permitted", "place/out.pt",
                       options=["--force"], dry_run=False)
            self.assertEqual((self.place / "out.pt").read_text(), "old")


if __name__ == "__main__":
    harness.main()
