"""--files-in: a checkpoint whose files lie on the disks of several nodes."""
import os
import shutil

import dcp
import harness


class FilesIn(harness.CliTest):
    def setUp(self):
        super().setUp()
        made = dcp.small(self.folder / "a", ranks=2)
        made.tensor("x", (2,), [((0,), (2,), "__2_0.distcp", dcp.floats(8, 9))])
        made.save()
        self.assert_ok(self.run_cli("consolidate", "a", "whole.pt"))
        for folder, name in (("b", "__1_0.distcp"), ("c", "__2_0.distcp")):
            (self.folder / folder).mkdir()
            os.rename(self.folder / "a" / name, self.folder / folder / name)

    def same(self, *arguments, err=""):
        result = self.run_cli("consolidate", *arguments, "out.pt", "-f")
        self.assertEqual((result.code, result.err), (0, err))
        self.assertEqual((self.folder / "out.pt").read_bytes(), (self.folder / "whole.pt").read_bytes())

    def test_in_any_order(self):
        self.same("a", "--files-in", "b", "--files-in", "c")
        self.same("a", "--files-in=c", "--files-in=b/")

    def test_metadata_may_lie_in_any_of_them(self):
        self.same("b", "--files-in", "a", "--files-in", "c")

    def test_what_is_still_missing_is_named(self):
        result = self.run_cli("consolidate", "a", "out.pt")
        self.assertEqual((result.code, self.listed()), (3, ["a", "b", "c", "whole.pt"]))
        self.assertIn("__1_0.distcp", result.err)
        self.assertIn("__2_0.distcp", result.err)
        result = self.run_cli("consolidate", "a", "out.pt", "--files-in", "b")
        self.assertEqual(result.code, 3)
        self.assertIn("__2_0.distcp", result.err)
        self.assertNotIn("__1_0.distcp", result.err)

    def test_inspect(self):
        result = self.run_cli("inspect", "a", "--files-in", "b", "--files-in", "c", "--keys")
        self.assert_ok(result, "model.w\nmodel.b\nstep\nx\n")

    def test_the_same_file_twice(self):
        shutil.copy(self.folder / "b/__1_0.distcp", self.folder / "c")
        self.same("a", "--files-in", "b", "--files-in", "c")

    def test_different_files_of_one_name(self):
        (self.folder / "c/__1_0.distcp").write_bytes(b"x")
        size = (self.folder / "b/__1_0.distcp").stat().st_size
        what = f"the file has {size} bytes here and 1 in 'c': they belong to different checkpoints, or one was cut"
        self.assert_fails(["consolidate", "a", "out.pt", "--files-in", "b", "--files-in", "c"], 3, (what, "b/__1_0.distcp"))
        result = self.run_cli("inspect", "a", "--files-in", "b", "--files-in", "c")
        self.assertEqual((result.code, result.err), (3, harness.error_text(what, "b/__1_0.distcp")))

    def test_damage_is_told_with_the_folder_it_lies_in(self):
        path = self.folder / "b/__1_0.distcp"
        item = bytearray(path.read_bytes())
        item[item.index(dcp.floats(6, 7))] ^= 1
        path.write_bytes(item)
        result = self.run_cli("consolidate", "a", "out.pt", "--files-in", "b", "--files-in", "c")
        self.assertEqual(result.code, 3)
        self.assertIn("\n  in:  b/__1_0.distcp, entry 'model.w' [2:4, 0:3]\n", result.err)

    def test_a_cut_file_is_named_where_it_lies(self):
        path = self.folder / "b/__1_0.distcp"
        size = path.stat().st_size
        os.truncate(path, size - 1)
        for command in (["consolidate", "a", "out.pt"], ["inspect", "a"]):
            result = self.run_cli(*command, "--files-in", "b", "--files-in", "c")
            self.assertEqual(result.code, 3)
            self.assertRegex(result.err, rf"\Afsdpckpt: error: rank file is too short: .* needs bytes \d+\.\.{size}, the file has {size - 1}\b")
            self.assertIn("\n  in:  b/__1_0.distcp, entry 'model.w' [2:4, 0:3]\n", result.err)

    def test_files_stay_in_their_folder(self):
        """As in SRC: a link may lead to a regular file, and not to a device."""
        os.rename(self.folder / "b/__1_0.distcp", self.folder / "blob")
        os.symlink("../blob", self.folder / "b/__1_0.distcp")
        self.same("a", "--files-in", "b", "--files-in", "c", err="fsdpckpt: note: 1 file is read through symbolic links\n")
        os.remove(self.folder / "b/__1_0.distcp")
        os.symlink("/dev/zero", self.folder / "b/__1_0.distcp")
        self.assert_fails(["consolidate", "a", "two.pt", "--files-in", "b", "--files-in", "c"], 5,
                          ("symbolic link does not end at a regular file", "b/__1_0.distcp"))

    def test_output_inside_one_of_them(self):
        self.assert_fails(["consolidate", "a", "c/out.pt", "--files-in", "b", "--files-in", "c"], 5,
                          ("the output lies inside the input or is the input itself", "c/out.pt",
                           "choose a place outside the checkpoint's directory"))

    def test_no_directory(self):
        self.assert_fails(["inspect", "a", "--files-in", "nothing"], 3, ("directory is missing", "nothing"))
        self.assert_fails(["inspect", "a", "--files-in", "whole.pt"], 3, ("not a directory", "whole.pt"))
        self.assert_fails(["inspect", "a", "--files-in", ""], 2, ("the name of a --files-in is empty",))

    def test_single_file(self):
        self.assert_fails(["inspect", "whole.pt", "--files-in", "b"], 2,
                          ("--files-in is for sharded checkpoints, and this is a file", "whole.pt"))

    def test_rank_local_metadata(self):
        """Each node has the metadata of its own ranks."""
        self.copy("cases/rank-local-metadata/ckpt", "n0")
        self.assert_ok(self.run_cli("consolidate", "n0", "one.pt", "-q"))
        (self.folder / "n1").mkdir()
        for name in ("__1.metadata", "__1_0.distcp"):
            os.rename(self.folder / "n0" / name, self.folder / "n1" / name)
        self.assert_ok(self.run_cli("consolidate", "n0", "two.pt", "-q", "--files-in", "n1"))
        self.assertEqual((self.folder / "one.pt").read_bytes(), (self.folder / "two.pt").read_bytes())


if __name__ == "__main__":
    harness.main()
