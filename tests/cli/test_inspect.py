"""What inspect prints, to the letter."""
import os
import pathlib
import pty
import subprocess

import dcp
import harness

SHARDED = """\
ck: sharded checkpoint (DCP as written by torch 2.9 to 2.14), 4 rank files, 22.5 KiB
7 tensors, 87 params, 348 B: float32 348 B (7); 0 objects; written by 4 ranks

  entry  dtype    shape       size  chunks
  t0     float32  [5, 7]     140 B  2 x dim 0
  t1     float32  [8, 4]     128 B  2 x dim 0
  t2     float32  [1, 3]      12 B  1
  t3     float32  [2, 2, 3]   48 B  2 x dim 0
  t4     float32  [4]         16 B  2 x dim 0
  t5     float32  [1]          4 B  1
  t6     float32  [0, 3]       0 B  1
"""

NASTY = "a\x1b[31mb\u202ec\nd"
SHOWN = "a\\x1b[31mb\\u202ec\\nd"


class Inspect(harness.CliTest):
    def test_sharded(self):
        self.copy("torch-2.13.0/dt_rs0_2x2")
        self.assert_ok(self.run_cli("inspect", "ck"), SHARDED)
        self.assert_ok(self.run_cli("-q", "inspect", "ck"), SHARDED)

    def test_show_and_patterns(self):
        self.copy("torch-2.13.0/dt_rs0_2x2")
        for show in (["--show", "chunks,files"], ["--show", "files", "--show=chunks"]):
            result = self.run_cli("inspect", "ck", *show, "-k", "t[3-5]", "-x", "t5")
            self.assert_ok(result)
            self.assertIn("  t3     [0:1, 0:2, 0:3]  __0_0.distcp", result.out)
            self.assertEqual([line.split()[0] for line in result.out.splitlines()[2:] if line],
                             ["entry", "t3", "t3", "t4", "t4", "file", ".metadata", *(f"__{i}_0.distcp" for i in range(4))])

    def test_only_objects(self):
        dcp.small(self.folder / "ck").save()
        result = self.run_cli("inspect", "ck", "--show", "objects", "--bytes")
        self.assert_ok(result, """\
ck: sharded checkpoint (DCP as written by torch 2.3), 2 rank files, 3152
2 tensors, 14 params, 56: float32 56 (2); 1 object; written by 2 ranks
model 56 (2 tensors), top level (1 object)

  object  size  value
  step     359  7
""")

    def test_keys(self):
        self.copy("torch-2.13.0/dt_rs0_2x2")
        self.assert_ok(self.run_cli("inspect", "ck", "--keys", "-k", "t[01]"), "t0\nt1\n")
        self.assert_ok(self.run_cli("inspect", "ck", "--keys", "-0", "-k", "t[01]"), "t0\0t1\0")

    def test_order_is_that_of_the_state_dict(self):
        made = dcp.Directory(self.folder / "ck")
        for name in ("z", "b", "a", "m"):
            made.tensor(name, (1,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        self.assert_ok(self.run_cli("inspect", "ck", "--keys"), "z\nb\na\nm\n")

    def test_names_cannot_drive_a_terminal(self):
        made = dcp.Directory(self.folder / "ck")
        made.tensor(NASTY, (1,), [((0,), (1,), "__0_0.distcp", None)])
        made.object("value", NASTY)
        made.save()
        self.assert_ok(self.run_cli("inspect", "ck", "--keys"), f"{SHOWN}\nvalue\n")
        self.assert_ok(self.run_cli("inspect", "ck", "--keys", "-0"), f"{NASTY}\0value\0")
        text = self.run_cli("inspect", "ck", "--show", "entries,objects,chunks").out
        self.assertIn(f"  {SHOWN}  float32  [1]", text)
        self.assertIn(f"'{SHOWN}'", text)
        self.assertFalse(set(text) & set("\x1b\u202e"))

    def test_names_cannot_drive_a_terminal_in_errors(self):
        made = dcp.Directory(self.folder / "ck")
        made.tensor(NASTY, (2,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        self.assert_fails(["consolidate", "ck", "out.pt"], 3, ("elements [1:2] are in no chunk", f"ck, entry '{SHOWN}' [1:2]"))

    def test_stale_files_are_a_note(self):
        dcp.small(self.folder / "ck").save()
        (self.folder / "ck/__7_0.distcp").write_bytes(b"old")
        note = "fsdpckpt: note: not referenced by the metadata, left alone: '__7_0.distcp'\n"
        self.assertEqual(self.run_cli("inspect", "ck").err, note)
        self.assertEqual(self.run_cli("-q", "inspect", "ck").err, "")
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"), err=note)

    def test_how_tensors_are_cut(self):
        made = dcp.Directory(self.folder / "ck")
        file = "__0_0.distcp"
        made.tensor("whole", (2, 2), [((0, 0), (2, 2), file, None)])
        made.tensor("rows", (2, 2), [((0, 0), (1, 2), file, None), ((1, 0), (1, 2), file, None)])
        made.tensor("columns", (2, 2), [((0, 0), (2, 1), file, None), ((0, 1), (2, 1), file, None)])
        made.tensor("boxes", (2, 2), [((i, j), (1, 1), file, None) for i in range(2) for j in range(2)])
        made.tensor("scalar", (), [((), (), file, None)])
        made.save()
        lines = self.run_cli("inspect", "ck", "--show", "entries").out.splitlines()
        self.assertEqual([line.split("B  ")[1] for line in lines[-5:]],
                         ["1", "2 x dim 0", "2 x dim 1", "2 x dim 0, 2 x dim 1", "1"])

    def test_sort(self):
        made = dcp.Directory(self.folder / "ck")
        file = "__0_0.distcp"
        made.tensor("m.2", (2, 3), [((0, 0), (2, 3), file, None)])
        made.object("step", 7)
        made.tensor("m.10", (8,), [((0,), (4,), file, None), ((4,), (4,), file, None)])
        made.tensor("B", (2, 2), [((0, 0), (2, 2), file, None)])
        made.tensor("a", (6,), [((0,), (6,), file, None)])
        made.save()
        for by, names in (("name", "B a m.10 m.2 step"), ("size", "step m.10 m.2 a B"), ("dtype", "m.2 m.10 B a step"),
                          ("shape", "a m.10 B m.2 step"), ("chunks", "m.10 m.2 step B a")):
            result = self.run_cli("inspect", "ck", "--keys", "--sort", by)
            self.assert_ok(result, names.replace(" ", "\n") + "\n")
            document = harness.json.loads(self.run_cli("--json", "inspect", "ck", "--sort", by).out)
            self.assertEqual([entry["name"] for entry in document["entries"]], names.split())
            self.assertEqual([entry["value"] for entry in document["entries"] if entry["kind"] == "object"], ["7"])
            tables = self.run_cli("inspect", "ck", "--sort", by, "--show", "entries,objects,chunks").out.split("\n\n")
            rows = [[line.split()[0] for line in table.splitlines()[1:]] for table in tables[1:]]
            tensors = [name for name in names.split() if name != "step"]
            self.assertEqual(rows, [tensors, ["step"], [name for name in tensors for _ in range(1 + (name == "m.10"))]])

    def test_values_are_capped_and_say_so(self):
        made = dcp.small(self.folder / "ck")
        made.object("list", list(range(1000)))
        made.object("text", "x" * 500)
        made.object("dict", {i: str(i) for i in range(100)})
        made.save()
        lines = self.run_cli("inspect", "ck", "--show", "objects").out.splitlines()
        self.assertRegex(lines[-3], r"\[0, 1, 2, .*17, … 982 more\]$")
        self.assertRegex(lines[-2], r"  'x{59}… 441 more'$")
        self.assertRegex(lines[-1], r"  \{0: '0', 1: '1', .*, … 92 more\}$")

    def test_a_huge_name_does_not_widen_the_table(self):
        made = dcp.Directory(self.folder / "ck")
        for name in ("n" * 100_000, *(f"w{i}" for i in range(100))):
            made.tensor(name, (1,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        self.assertLess(len(self.run_cli("inspect", "ck").out), 200_000)

    def test_who_wrote_it_is_not_told_by_names(self):
        """meta.pt is Lightning's beside shards; a file of that name alone is any file."""
        (self.folder / "meta.pt").write_bytes(dcp.torch_zip({"a": 1}))
        self.assertEqual(self.run_cli("inspect", "meta.pt").out.splitlines()[0],
                         f"meta.pt: torch file (unknown writer), {(self.folder / 'meta.pt').stat().st_size} B")

    def test_unknown_writer(self):
        """Fields that no one torch writes together."""
        made = dcp.small(self.folder / "ck")
        made.fields = {"version": "1.0.0"}
        made.save()
        self.assertIn("(DCP of an unknown writer)", self.run_cli("inspect", "ck").out)

    def test_a_shape_beyond_64_bits(self):
        made = dcp.small(self.folder / "ck")
        made.list("huge", (1 << 62, 16), [])
        made.save()
        result = self.run_cli("inspect", "ck")
        self.assertEqual((result.code, result.out, result.err), (3, "", harness.error_text(
            "the number of elements is too large for 64 bits", "ck, entry 'huge'")))

    def test_unreferenced_bytes(self):
        dcp.small(self.folder / "ck").save()
        with open(self.folder / "ck/__0_0.distcp", "ab") as file:
            file.write(bytes(100))
        (self.folder / "ck/__7_0.distcp").write_bytes(b"old")
        sizes = [(self.folder / f"ck/{name}").stat().st_size for name in (".metadata", "__0_0.distcp", "__1_0.distcp")]
        result = self.run_cli("inspect", "ck", "--show", "files", "--bytes")
        self.assertEqual([line.split() for line in result.out.splitlines()[-5:]],
                         [["file", "size", "referenced", "unreferenced"], [".metadata", str(sizes[0]), "-", "-"],
                          ["__0_0.distcp", str(sizes[1]), str(sizes[1] - 100), "100"],
                          ["__1_0.distcp", str(sizes[2]), str(sizes[2]), "0"],
                          ["__7_0.distcp", "3", "0", "3", "not", "referenced"]])

    def test_tensors_of_other_kinds_are_named_and_the_rest_is_shown(self):
        self.copy("torch-2.13.0/full", "full")
        result = self.run_cli("inspect", "full/special_coo.pt")
        self.assertEqual((result.code, result.err), (3, harness.error_text(
            "unsupported tensor kind: made by '_rebuild_sparse_tensor'", "full/special_coo.pt")))
        self.assertIn("  tensor of an unsupported kind", result.out)

    def test_log(self):
        """-v tells what is read; never with -q."""
        dcp.small(self.folder / "ck").save()
        result = self.run_cli("-v", "inspect", "ck")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"(?m)^fsdpckpt: info: file ck/\.metadata$")


class Golden(harness.CliTest):
    """The whole text, as in golden/."""

    FABRIC = "lightning-2.6.6/fabric_fsdp"

    def golden(self, name, *arguments, err="", code=0):
        result = self.run_cli("inspect", *arguments)
        self.assertEqual((result.code, result.err), (code, err))
        path = pathlib.Path(__file__).with_name("golden") / f"inspect_{name}.txt"
        self.assertEqual(result.out, path.read_text())

    def test_fabric(self):
        self.copy(self.FABRIC)
        self.golden("fabric", "ck")
        self.golden("fabric_tree", "ck", "--show", "tree")
        self.golden("fabric_files", "ck", "--show", "files", "--bytes")
        self.golden("fabric_model_by_size", "ck", "-k", "model.*", "--sort", "size", "--bytes")

    def test_boxes_in_two_dimensions(self):
        self.copy("torch-2.15.0/fsdp2_tp_2x2")
        self.golden("boxes", "ck", "--show", "entries,chunks", "-k", "model.l*")

    def test_single_file_with_objects(self):
        """Classes that cannot be imported here are shown by name, and marked."""
        self.copy("cases/meta-pt-user-objects/ckpt")
        self.golden("user_objects", "ck/meta.pt")

    def test_full_checkpoint(self):
        self.copy(self.FABRIC)
        self.assertEqual(self.run_cli("consolidate", "ck", "full.pt").code, 0)
        self.golden("full", "full.pt", "-k", "model.*", "-k", "optimizer.param_groups.1.*", "--show", "entries,objects,tree")

    def test_damaged(self):
        self.copy(self.FABRIC)
        (self.folder / "ck/__1_0.distcp").unlink()
        self.golden("damaged", "ck", "--show", "entries,objects,files", "-k", "model.*", "-k", "optimizer.param_groups.1.*",
                    code=3, err=harness.error_text("a rank file is missing: '__1_0.distcp'; 54 entries need it",
                                                   "ck/__1_0.distcp, entry 'model.emb.weight' [9:17, 0:8]"))


class Terminal(harness.CliTest):
    """stdout is a terminal: lines fit."""

    def on_terminal(self, *arguments, **env):
        leader, follower = pty.openpty()
        process = self.start(*arguments, env=env, stdout=follower, stderr=subprocess.PIPE)
        os.close(follower)
        out = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        os.close(leader)
        _, err = process.communicate(timeout=100)
        return harness.Result(process.returncode, out.decode().replace("\r\n", "\n"), err.decode())

    def test_columns_are_cut_to_fit(self):
        made = dcp.Directory(self.folder / "ck")
        made.tensor("model.layers.10.self_attention.query.weight", (4, 4), [((0, 0), (4, 4), "__0_0.distcp", None)])
        made.object("optimizer.param_groups.0.params", ["layers.0.weight", "layers.1.weight", "layers.2.weight"])
        made.save()
        text = self.on_terminal("inspect", "ck", COLUMNS="60").out
        for line in text.split("\n\n", 1)[1].splitlines():
            self.assertLessEqual(len(line), 60)
        self.assertRegex(text, r"\n  model\.layers\.….*\.weight  float32")
        self.assertNotIn("\x1b", text)
        wide = self.on_terminal("inspect", "ck", COLUMNS="200").out
        self.assertEqual(wide, self.run_cli("inspect", "ck", env={"COLUMNS": "60"}).out)

    def test_columns_that_are_no_number(self):
        dcp.small(self.folder / "ck").save()
        result = self.on_terminal("inspect", "ck", COLUMNS="many")
        self.assertEqual((result.code, result.out, result.err),
                         (2, "", harness.error_text("COLUMNS is 'many': a number was expected")))
        self.assertEqual(self.run_cli("inspect", "ck", env={"COLUMNS": "many"}).code, 0)


if __name__ == "__main__":
    harness.main()
