"""What torch loads without a word, or runs: named here, with a non-zero exit and no output."""
import os

import dcp
import harness

CASE = "cases/chunks-do-not-cover"


class Holes(harness.CliTest):
    """consolidate refuses; inspect shows the checkpoint, with a note, or the error when the index itself is wrong."""

    def refused(self, source, what, where):
        self.assert_fails(["consolidate", source, "out.pt"], 3, (what, where))
        self.assert_fails(["consolidate", "-n", source, "out.pt"], 3, (what, where))

    def noted(self, source, what, where):
        self.refused(source, what, where)
        note = f"1 tensor is not stored exactly once: 'model.w' ({what})"
        result = self.run_cli("inspect", source)
        self.assert_ok(result, err=f"fsdpckpt: note: {note}\n")
        self.assertIn("  model.w ", result.out)
        document = harness.valid_document(self, self.run_cli("--json", "inspect", source).out, "inspect")
        self.assertEqual((document["ok"], document["notes"]), (True, [note]))

    def damaged(self, source, what, where):
        self.refused(source, what, where)
        result = self.run_cli("-q", "inspect", source)
        self.assertEqual((result.code, result.err), (3, harness.error_text(what, where)))
        self.assertIn("model.w", result.out)
        document = harness.valid_document(self, self.run_cli("--json", "inspect", source).out, "inspect")
        self.assertEqual((document["ok"], document["error"]["message"], document["error"]["exit_code"]), (False, what, 3))
        self.assertIn("model.w", [entry["name"] for entry in document["entries"]])

    def test_gap(self):
        self.copy(CASE + "/gap", "gap")
        self.noted("gap", "elements [4:8, 0:4] are in no chunk", "gap, entry 'model.w' [4:8, 0:4]")

    def test_overlap(self):
        self.copy(CASE + "/overlap", "overlap")
        self.noted("overlap", "elements [2:4, 0:4] are in more than one chunk", "overlap, entry 'model.w' [2:4, 0:4]")

    def test_outside(self):
        self.copy(CASE + "/outside", "outside")
        self.damaged("outside", "chunk [6:10, 0:4] lies outside the tensor's shape [8, 4]",
                     "outside, entry 'model.w' [6:10, 0:4]")

    def test_many_holes_are_one_note(self):
        made = dcp.Directory(self.folder / "ck")
        for name in "abcde":
            made.tensor(name, (2,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        hole = "elements [1:2] are in no chunk"
        self.assertEqual(self.run_cli("inspect", "ck").err, "fsdpckpt: note: 5 tensors are not stored exactly once: "
                         f"'a' ({hole}), 'b' ({hole}), 'c' ({hole}) and 2 more\n")

    def test_hole_in_what_is_left_out(self):
        """A selection without the damaged entry is whole."""
        self.copy(CASE + "/gap", "gap")
        self.assert_ok(self.run_cli("inspect", "gap", "-x", "model.w"))
        self.assert_ok(self.run_cli("consolidate", "gap", "out.pt", "-k", "model.ok"))

    def test_chunk_in_no_file(self):
        made = dcp.small(self.folder / "ck")
        made.storage = {index: info for index, info in made.storage.items() if index.offset != (2, 0)}
        made.save()
        self.damaged("ck", "a chunk is listed but stored in no file", "ck, entry 'model.w' [2:4, 0:3]")


class Hostile(harness.CliTest):
    def refused(self, what, where, code=5, hint=""):
        for arguments in (["consolidate", "ck", "out.pt"], ["inspect", "ck"]):
            self.assert_fails(arguments, code, (what, where, hint))

    def test_paths_that_leave_the_directory(self):
        for path in ("../outside.bin", "/etc/passwd", "a/../../outside.bin"):
            made = dcp.small(self.folder / "ck")
            made.files["x"] = made.files.pop("__1_0.distcp")
            for info in made.storage.values():
                info.relative_path = path if info.relative_path == "__1_0.distcp" else info.relative_path
            made.save()
            (self.folder / "outside.bin").write_bytes(made.files["x"])
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertEqual((result.code, result.out, self.listed()), (5, "", ["ck", "outside.bin"]))
            self.assertIn(f"file name does not stay in the directory: '{path}'\n  in:  ck", result.err)

    def test_code_in_metadata(self):
        dcp.small(self.folder / "ck").save()
        (self.folder / "ck/.metadata").write_bytes(b"\x80\x04cposix\nsystem\n(S'touch ran'\ntR.")
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertIn(result.code, (3, 5))
        self.assertEqual((result.out, self.listed()), ("", ["ck"]))
        (self.folder / "ck/.metadata").write_bytes(b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\ttouch ran\x94\x85\x94R.")
        self.refused("the metadata names 'posix.system', which no checkpoint writer puts there; nothing was run",
                     "ck/.metadata, byte offset 19")

    def test_link_to_a_device(self):
        dcp.small(self.folder / "ck").save()
        os.remove(self.folder / "ck/__1_0.distcp")
        os.symlink("/dev/zero", self.folder / "ck/__1_0.distcp")
        error = ("symbolic link does not end at a regular file", "ck/__1_0.distcp")
        self.assert_fails(["consolidate", "ck", "out.pt"], 5, error)
        result = self.run_cli("inspect", "ck", "--show", "files")
        self.assertEqual((result.code, result.err), (5, harness.error_text(*error)))
        self.assertIn("  __1_0.distcp        -       608 B           0 B  cannot be read\n", result.out)

    def test_link_to_a_regular_file_is_followed(self):
        """Model caches are made of them."""
        dcp.small(self.folder / "ck").save()
        os.rename(self.folder / "ck/__1_0.distcp", self.folder / "blob")
        os.symlink("../blob", self.folder / "ck/__1_0.distcp")
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"),
                       err="fsdpckpt: note: 1 file is read through symbolic links\n")


if __name__ == "__main__":
    harness.main()
