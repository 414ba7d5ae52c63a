"""SRC is missing, damaged or something else: exit code 3, a message that names the file, nothing written."""
import os
import shutil

import dcp
import harness

METADATA = "torch-2.13.0/dt_rs0_2x2"


class WrongInput(harness.CliTest):
    def wrong(self, source, what, where="", hint="", code=3):
        """Both commands say the same."""
        for arguments in (["inspect", source], ["consolidate", source, "out.pt"]):
            self.assert_fails(arguments, code, (what, where or source, hint))

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name


class NoCheckpoint(WrongInput):
    def test_missing(self):
        self.wrong("nothing", "no such file or directory")
        self.wrong("a/b/c", "no such file or directory")
        self.wrong(self.write("text", b"hello") + "/ck", "no such file or directory")

    def test_names_of_folders_cannot_drive_a_terminal(self):
        dcp.small(self.folder / "run" / "a\x1b[31m").save()
        self.wrong("run", "no .metadata here, but in folders inside: 'run/a\\x1b[31m'",
                   hint="fsdpckpt inspect $'run/a\\x1b[31m'")

    def test_device(self):
        self.wrong("/dev/null", "not a regular file", code=5)

    def test_one_file_of_a_checkpoint(self):
        self.copy(METADATA, "my ck")
        for name in ("my ck/.metadata", "my ck/__0_0.distcp"):
            self.wrong(name, "this is one file of a sharded checkpoint, which is read as a directory",
                       hint="fsdpckpt inspect 'my ck'")

    def test_single_file_is_consolidated_already(self):
        shutil.copy(harness.TESTDATA / "torch-2.13.0/full/module_state_dict.pt", self.folder / "a b.pt")
        self.assertEqual(self.run_cli("inspect", "a b.pt").code, 0)
        self.assert_fails(["consolidate", "a b.pt", "out.pt"], 3,
                          ("there is nothing to consolidate: it is a torch file already", "a b.pt",
                           "fsdpckpt inspect 'a b.pt'"))


class Unfinished(WrongInput):
    def test_metadata_was_never_written(self):
        os.remove(self.folder / self.copy(METADATA) / ".metadata")
        self.wrong("ck", "there are rank files but no .metadata: the save looks unfinished, or the hidden file was not copied",
                   hint="copy .metadata too; if another node has it, give that directory as SRC and this one with --files-in")

    def test_metadata_was_not_renamed(self):
        os.rename(self.folder / self.copy(METADATA) / ".metadata", self.folder / "ck/.metadata.tmp")
        self.wrong("ck", "unfinished save: there is a .metadata.tmp that was not renamed to .metadata",
                   hint="use an earlier checkpoint")

    def test_empty_metadata(self):
        self.copy(METADATA)
        self.write("ck/.metadata", b"")
        self.wrong("ck", "the metadata file is empty: the save looks unfinished", "ck/.metadata", "use an earlier checkpoint")


class CutMetadata(WrongInput):
    def test_at_every_place(self):
        """Wherever it is cut: the pickle has no end then."""
        self.copy(METADATA)
        whole = (self.folder / "ck/.metadata").read_bytes()
        for length in (1, 2, 3, 10, 11, 12, 100, 1000, 2000, len(whole) // 2, len(whole) - 2, len(whole) - 1):
            self.write("ck/.metadata", whole[:length])
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertEqual((result.code, result.out, self.listed()), (3, "", ["ck"]), length)
            self.assertRegex(result.err, r"\Afsdpckpt: error: the metadata ends in the middle of its pickle: the save looks "
                                         r"unfinished, or the file was cut\n  in:  ck/\.metadata, byte offset \d+\n"
                                         r"  try: copy the file again, or use an earlier checkpoint\n\Z", length)

    def test_bytes_behind_the_end(self):
        self.copy(METADATA)
        whole = (self.folder / "ck/.metadata").read_bytes()
        self.write("ck/.metadata", whole + b"xyz")
        self.wrong("ck", "3 bytes behind the end of the pickle", f"ck/.metadata, byte offset {len(whole)}")

    def test_in_the_current_directory(self):
        """Names are as the user would write them."""
        shutil.copytree(harness.TESTDATA / METADATA, self.folder, dirs_exist_ok=True)
        self.write(".metadata", b"\x80\x04}\x94.")
        self.wrong(".", "the file holds no DCP Metadata object", ".metadata")

    def test_another_pickle(self):
        self.copy(METADATA)
        self.write("ck/.metadata", b"\x80\x04}\x94.")
        self.wrong("ck", "the file holds no DCP Metadata object", "ck/.metadata")


class Metadata(WrongInput):
    """What is wrong in it is told with the entry it was met in."""

    def test_chunk(self):
        for entries in (["model.w"], ["a", "model.w"], ["model.w", "z"], ["a", "b", "model.w", "y", "z"]):
            made = dcp.Directory(self.folder / "ck")
            for name in entries:
                made.tensor(name, (2, 3), [((0, 0), (2, 3), "__0_0.distcp", None)], tuple(name.split(".")))
            made.state["model.w"].chunks[0].sizes = dcp.Size((2,))
            made.save()
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertRegex(result.err, r"\Afsdpckpt: error: a chunk's offsets and sizes differ in length\n"
                                         r"  in:  ck/\.metadata, byte offset \d+, entry 'model\.w'\n\Z")

    def test_stored_item(self):
        made = dcp.small(self.folder / "ck")
        next(info for index, info in made.storage.items() if index.fqn == "model.b").length = -1
        made.save()
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertRegex(result.err, r"\Afsdpckpt: error: field 'length' is no number of bytes\n"
                                     r"  in:  ck/\.metadata, byte offset \d+, entry 'model\.b'\n\Z")

    def test_path(self):
        made = dcp.small(self.folder / "ck")
        made.paths["model.b"] = ("model", 1.5)
        made.save()
        self.wrong("ck", "a path in planner_data holds something else than text and integers",
                   "ck/.metadata, entry 'model.b'")


class DamagedRankFiles(WrongInput):
    """consolidate refuses; inspect shows what the metadata says, then the same error."""

    def damaged(self, source, what, where):
        self.assert_fails(["consolidate", source, "out.pt"], 3, (what, where))
        result = self.run_cli("inspect", source)
        self.assertEqual((result.code, result.err), (3, harness.error_text(what, where)))
        self.assertIn(f"{source}: sharded checkpoint (", result.out)
        self.assertIn("  chunks\n", result.out)
        document = harness.valid_document(self, self.run_cli("--json", "inspect", source).out, "inspect")
        self.assertEqual((document["ok"], document["error"]["message"]), (False, what))
        self.assertTrue(document["entries"])
        return {file["path"]: file for file in document["files"]}

    def test_missing(self):
        os.remove(self.folder / self.copy(METADATA) / "__1_0.distcp")
        self.damaged("ck", "a rank file is missing: '__1_0.distcp'; 5 entries need it", "ck/__1_0.distcp, entry 't1' [4:8, 0:4]")
        os.remove(self.folder / "ck/__2_0.distcp")
        files = self.damaged("ck", "2 rank files are missing: '__1_0.distcp', '__2_0.distcp'; 5 entries need them",
                             "ck, entry 't1' [4:8, 0:4]")
        self.assertEqual([files[f"__{rank}_0.distcp"]["state"] for rank in range(4)], ["whole", "missing", "missing", "whole"])

    def test_many_missing_are_not_all_named(self):
        made = dcp.Directory(self.folder / "ck")
        for rank in range(10):
            made.tensor(f"w{rank}", (1,), [((0,), (1,), f"__{rank}_0.distcp", None)])
        made.save()
        for rank in range(10):
            os.remove(self.folder / f"ck/__{rank}_0.distcp")
        names = ", ".join(f"'__{rank}_0.distcp'" for rank in range(8))
        self.damaged("ck", f"10 rank files are missing: {names} and 2 more; 10 entries need them", "ck, entry 'w0' [0:1]")

    def test_cut_or_empty(self):
        self.copy(METADATA)
        for length in (0, 1000):
            os.truncate(self.folder / "ck/__1_0.distcp", length)
            what = f"rank file is too short: a chunk needs bytes 0..1641, the file has {length}; 5 entries need 7757"
            files = self.damaged("ck", what, "ck/__1_0.distcp, entry 't1' [4:8, 0:4]")
            self.assertEqual((files["__1_0.distcp"]["state"], files["__1_0.distcp"]["needed"]), ("too short", 7757))
            self.write("ck/__1_0.distcp", b"\1" * 1000)

    def test_cut_says_how_much_is_needed(self):
        dcp.small(self.folder / "ck").save()
        needed = (self.folder / "ck/__0_0.distcp").stat().st_size
        os.truncate(self.folder / "ck/__0_0.distcp", 700)
        self.damaged("ck", f"rank file is too short: a chunk needs bytes 608..1196, the file has 700; 2 entries need {needed}",
                     "ck/__0_0.distcp, entry 'model.b' [0:2]")

    def test_missing_and_cut(self):
        made = dcp.Directory(self.folder / "ck")
        for rank in range(3):
            made.tensor(f"w{rank}", (1,), [((0,), (1,), f"__{rank}_0.distcp", None)])
        made.save()
        size = (self.folder / "ck/__2_0.distcp").stat().st_size
        os.remove(self.folder / "ck/__0_0.distcp")
        os.truncate(self.folder / "ck/__2_0.distcp", 9)
        self.damaged("ck", "1 rank file is missing: '__0_0.distcp'; 1 rank file is too short: '__2_0.distcp' "
                           f"(9 of {size} bytes); 2 entries need them", "ck, entry 'w0' [0:1]")

    def test_object_in_a_missing_file(self):
        """It is listed, without its value."""
        made = dcp.small(self.folder / "ck")
        made.object("epoch", 3, file="__5_0.distcp")
        made.save()
        os.remove(self.folder / "ck/__5_0.distcp")
        self.damaged("ck", "a rank file is missing: '__5_0.distcp'; 1 entry needs it", "ck/__5_0.distcp, entry 'epoch'")
        self.assertIn("  epoch   359 B  (cannot be read)\n", self.run_cli("inspect", "ck").out)

    def test_damaged_object(self):
        made = dcp.small(self.folder / "ck")
        made.files["__0_0.distcp"] = made.files["__0_0.distcp"][:-359] + bytes(359)
        made.save()
        result = self.run_cli("inspect", "ck")
        self.assertEqual(result.code, 3)
        self.assertIn("  step    359 B  (cannot be read)\n", result.out)
        self.assertRegex(result.err, r"\Afsdpckpt: error: .*\n  in:  ck/__0_0\.distcp@1196, .*entry 'step'\n\Z")
        self.assert_ok(self.run_cli("inspect", "ck", "--show", "entries"))

    def test_flipped_bit(self):
        """In the stored values: only the checksum can tell."""
        dcp.small(self.folder / "ck").save()
        path = self.folder / "ck/__1_0.distcp"
        item = bytearray(path.read_bytes())
        at = item.index(dcp.floats(6, 7))
        item[at] ^= 1
        path.write_bytes(item)
        self.assert_fails(["consolidate", "ck", "out.pt"], 3,
                          ("checksum 75be2663, expected f49b4344: the stored bytes are damaged",
                           "ck/__1_0.distcp, entry 'model.w' [2:4, 0:3]", "copy the file again; --no-checksum converts all the same"))
        result = self.run_cli("consolidate", "ck", "out.pt", "--no-checksum")
        self.assert_ok(result, err="fsdpckpt: note: no checksum of the source was compared (--no-checksum)\n")
        self.assertEqual(self.listed(), ["ck", "out.pt"])

    def test_damaged_structure_of_an_item_names_its_file(self):
        dcp.small(self.folder / "ck").save()
        path = self.folder / "ck/__1_0.distcp"
        item = bytearray(path.read_bytes())
        at = item.index(b"archive/data/0") - 30  # the local header before the name
        item[at + 8] ^= 8                        # its compression method
        path.write_bytes(item)
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertEqual((result.code, result.out), (3, ""))
        self.assertRegex(result.err, r"in its local header\n  in:  ck/__1_0\.distcp@0, byte offset \d+, entry 'model\.w' \[2:4, 0:3\]\n\Z")
        self.assertEqual(self.listed(), ["ck"])


if __name__ == "__main__":
    harness.main()
