"""What inspect prints, to the letter."""
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

OBJECTS = """\
ck/meta.pt: torch file (Lightning Fabric), 2.0 KiB
1 tensor, 2 params, 8 B: float32 8 B (1); 7 objects

  entry      dtype    shape  size  chunks
  ema_decay  float32  [2]     8 B  1

  object            size  value                                                                                 weights_only
  epoch                -  4
  global_step          -  120
  hyper_parameters     -  argparse.Namespace(...)                                                               refuses argparse.Namespace
  cfg                  -  usercfg.TrainConfig(...)                                                              refuses usercfg.TrainConfig
  root                 -  pathlib.PosixPath('/', 'data', 'run')                                                 refuses pathlib.PosixPath
  when                 -  datetime.datetime(_codecs.encode('\\x07ê\\x0b\\x1e\\x01\\x02\\x03\\x00\\x00\\x00', 'latin1'))  refuses datetime.datetime
  best                 -  numpy._core.multiarray.scalar(numpy.dtype('f8', False, True)...                       refuses numpy._core.multiarray.scalar and 1 more
"""

NASTY = "a\x1b[31mb\u202ec\nd"
SHOWN = "a\\x1b[31mb\\u202ec\\nd"


class Inspect(harness.CliTest):
    def test_sharded(self):
        self.copy("torch-2.13.0/dt_rs0_2x2")
        self.assert_ok(self.run_cli("inspect", "ck"), SHARDED)
        self.assert_ok(self.run_cli("-q", "inspect", "ck"), SHARDED)

    def test_single_file_with_objects(self):
        """Classes that cannot be imported here are shown by name, and marked."""
        self.copy("cases/meta-pt-user-objects/ckpt")
        self.assert_ok(self.run_cli("inspect", "ck/meta.pt"), OBJECTS)

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
                         ["1", "2 x dim 0", "2 x dim 1", "4 x dims 0, 1", "1"])

    def test_log(self):
        """-v tells what is read; never with -q."""
        dcp.small(self.folder / "ck").save()
        result = self.run_cli("-v", "inspect", "ck")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"(?m)^fsdpckpt: info: file ck/\.metadata$")


if __name__ == "__main__":
    harness.main()
