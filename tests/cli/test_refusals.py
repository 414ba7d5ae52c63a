"""DST as it must not be: refused with 5, or 4 when the system says no; what was there stays as it was."""
import os
import pathlib
import subprocess

import dcp
import harness

EXISTS = "pass --force to replace it"


class Target(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def refused(self, target, what, where=None, hint="", code=5, options=()):
        """A dry run says the same."""
        for extra in ([], ["-n"]):
            self.assert_fails(["consolidate", "ck", target, *options, *extra], code, (what, where or target, hint))

    def test_exists(self):
        (self.folder / "out.pt").write_text("mine")
        self.refused("out.pt", "output already exists", hint=EXISTS)
        self.assertEqual((self.folder / "out.pt").read_text(), "mine")

    def test_default_target_exists(self):
        (self.folder / "ck.pt").write_text("mine")
        self.assert_fails(["consolidate", "ck/"], 5, ("output already exists", "ck.pt", EXISTS))

    def test_is_a_directory(self):
        (self.folder / "folder").mkdir()
        for options in ([], ["--force"]):
            self.refused("folder", "output is a directory", options=options)

    def test_is_a_device(self):
        for options in ([], ["--force"]):
            self.refused("/dev/null", "output is not a regular file", options=options)

    def test_folder_is_missing(self):
        self.refused("no/such/out.pt", "the folder for the output does not exist", "no/such", code=4)

    def test_folder_is_a_file(self):
        (self.folder / "file").write_text("")
        self.refused("file/out.pt", "cannot write into directory: Not a directory", "file", code=4)

    def test_folder_is_not_writable(self):
        if os.getuid() == 0:
            self.check_as_nobody()
            return
        (self.folder / "closed").mkdir(mode=0o555)
        self.refused("closed/out.pt", "cannot write into directory: Permission denied", "closed", code=4)

    def check_as_nobody(self):
        """For root every folder is writable."""
        self.folder.chmod(0o755)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", harness.BINARY, "consolidate", "ck", "out.pt"]
        if subprocess.run([*command[:4], harness.BINARY, "--version"], capture_output=True).returncode != 0:
            print("not checked: setpriv cannot run the program as nobody here")
            return
        result = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True)
        self.assertEqual((result.returncode, result.stderr.decode(), self.listed()),
                         (4, harness.error_text("cannot write into directory: Permission denied", "."), ["ck"]))


class InsideSource(harness.CliTest):
    """Also with --force, also by another name of the same place."""

    def inside(self, source, target, what="the output lies inside the input or is the input itself"):
        before = self.listed("ck")
        for options in ([], ["--force"], ["-n"]):
            self.assert_fails(["consolidate", source, target, *options], 5,
                              (what, target, "choose a place outside the checkpoint's directory"))
        self.assertEqual(self.listed("ck"), before)

    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def test_below(self):
        self.inside("ck", "ck/out.pt")
        self.inside("ck", "ck/__0_0.distcp")
        self.inside("ck", "./ck/../ck/out.pt")

    def test_the_directory_itself(self):
        self.inside("ck", "ck")

    def test_through_links(self):
        os.symlink("ck", self.folder / "link")
        self.inside("ck", "link/out.pt")
        self.inside("link", "ck/out.pt")
        self.inside("ck", "link")

    def test_through_a_bind_mount(self):
        (self.folder / "bound").mkdir()
        if subprocess.run(["mount", "--bind", "ck", "bound"], cwd=self.folder, capture_output=True).returncode != 0:
            print("not checked: no directory can be bound to another name here (it needs root)")
            return
        self.addCleanup(subprocess.run, ["umount", self.folder / "bound"], check=True)
        self.inside("ck", "bound/out.pt")
        self.inside("bound", "ck/out.pt")

    def test_link_to_a_rank_file(self):
        """With --force the link is replaced, or the run refused: the rank file stays as it was either way."""
        os.symlink("ck/__0_0.distcp", self.folder / "out.pt")
        before = pathlib.Path(self.folder / "ck/__0_0.distcp").read_bytes()
        self.run_cli("consolidate", "ck", "out.pt", "--force")
        self.assertEqual(pathlib.Path(self.folder / "ck/__0_0.distcp").read_bytes(), before)

    def test_hard_link_to_a_rank_file(self):
        os.link(self.folder / "ck/__0_0.distcp", self.folder / "out.pt")
        before = pathlib.Path(self.folder / "ck/__0_0.distcp").read_bytes()
        self.run_cli("consolidate", "ck", "out.pt", "--force")
        self.assertEqual(pathlib.Path(self.folder / "ck/__0_0.distcp").read_bytes(), before)


class Patterns(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "my ck").save()

    def no_match(self, option, pattern, hint):
        for command in (["inspect", "my ck"], ["consolidate", "my ck", "out.pt"]):
            self.assert_fails([*command, option, pattern], 2,
                              (f"the pattern '{pattern}' matches no entry", "my ck", hint))

    def test_nearest_entry_is_named(self):
        self.no_match("-k", "modle.w", "the nearest entry is 'model.w'")
        self.no_match("-x", "model.b1", "the nearest entry is 'model.b'")

    def test_nothing_is_near(self):
        self.no_match("-k", "transformer.*", "fsdpckpt inspect --keys 'my ck'")

    def test_all_is_excluded(self):
        self.assert_fails(["consolidate", "my ck", "out.pt", "-x", "*"], 2, ("the patterns leave no entry", "my ck"))

    def test_no_model(self):
        made = dcp.Directory(self.folder / "objects")
        made.object("step", 7)
        made.save()
        self.assert_fails(["consolidate", "objects", "out.pt", "--model-only"], 2,
                          ("there is no model in the checkpoint, so --model-only leaves nothing", "objects"))


if __name__ == "__main__":
    harness.main()
