"""Pickled Python objects: carried, judged or left out, never resolved."""
import dcp
import harness

CASE = "cases/meta-pt-user-objects/ckpt"
NEEDS = ("fsdpckpt: note: torch.load needs weights_only=False for this file, because of 'argparse.Namespace', "
         "'datetime.datetime', 'numpy._core.multiarray.scalar', 'numpy.dtype', 'pathlib.PosixPath', 'usercfg.TrainConfig'\n")


class UserObjects(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.copy(CASE)

    def test_keep_and_all_carry_them(self):
        for options in ([], ["--objects", "keep"], ["--objects", "all"]):
            result = self.run_cli("consolidate", "ck", "out.pt", "-f", *options)
            self.assert_ok(result, err=NEEDS)
            self.assertRegex(result.out, r"\Aout\.pt: 1 tensor, 8 objects, ")
        text = self.run_cli("inspect", "out.pt", "--show", "objects").out
        self.assertRegex(text, r"  cfg +-  usercfg\.TrainConfig\(\.\.\.\) +usercfg\.TrainConfig \(weights_only refuses it\)\n")

    def test_safe_refuses_what_torch_refuses(self):
        self.assert_fails(["consolidate", "ck", "out.pt", "--objects", "safe"], 5,
                          ("the object needs 'argparse.Namespace', which torch.load(weights_only=True) refuses",
                           "ck/meta.pt, entry 'hyper_parameters'",
                           "--objects keep carries it over, --objects drop leaves all objects out"))

    def test_safe_passes_without_them(self):
        odd = ["hyper_parameters", "cfg", "root", "when", "best"]
        result = self.run_cli("consolidate", "ck", "out.pt", "--objects", "safe", *[f"-x{name}" for name in odd])
        self.assertEqual((result.code, self.listed()), (0, ["ck", "out.pt"]), result.err)

    def test_drop_says_how_many(self):
        result = self.run_cli("consolidate", "ck", "out.pt", "--objects", "drop")
        self.assert_ok(result, err="fsdpckpt: note: 8 objects are left out (--objects drop)\n")
        self.assertRegex(result.out, r"\Aout\.pt: 1 tensor, 0 objects, ")
        self.assert_ok(self.run_cli("inspect", "out.pt", "--keys"), "model.l.weight\n")

    def test_quiet_has_no_notes(self):
        self.assert_ok(self.run_cli("-q", "consolidate", "ck", "out.pt"), "")


class Attacks(harness.CliTest):
    """A callable that only an attack pickles."""

    def setUp(self):
        super().setUp()
        made = dcp.small(self.folder / "ck")
        made.object("hook", dcp.Call(dcp.function("posix", "system"), "touch ran"))
        made.save()

    def test_keep_and_safe_refuse(self):
        what = "the object names 'posix.system', which can run code when it is loaded; nothing was run"
        for options in ([], ["--objects", "keep"], ["--objects", "safe"], ["-n"]):
            self.assert_fails(["consolidate", "ck", "out.pt", *options], 5,
                              (what, "ck/__0_0.distcp, entry 'hook'", "--objects drop leaves all objects out"))

    def test_inspect_shows_it(self):
        result = self.run_cli("inspect", "ck", "--show", "objects")
        self.assert_ok(result)
        self.assertRegex(result.out, r"  hook +\d+ B  posix\.system\('touch ran'\)  posix\.system \(weights_only refuses it\)\n")
        self.assertEqual(self.listed(), ["ck"])

    def test_ways_on(self):
        self.assert_ok(self.run_cli("consolidate", "ck", "a.pt", "--objects", "drop"),
                       err="fsdpckpt: note: 2 objects are left out (--objects drop)\n")
        self.assert_ok(self.run_cli("consolidate", "ck", "b.pt", "-x", "hook"))
        result = self.run_cli("consolidate", "ck", "c.pt", "--objects", "all")
        self.assertEqual(result.code, 0)
        self.assertIn("'posix.system'", result.err)
        self.assertEqual(self.listed(), ["a.pt", "b.pt", "c.pt", "ck"])


class MetaPt(harness.CliTest):
    def with_meta(self, value):
        dcp.small(self.folder / "ck").save()
        (self.folder / "ck/meta.pt").write_bytes(dcp.torch_zip(value))

    def test_entries_are_merged(self):
        self.with_meta({"epoch": 3, "lr": 0.5})
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"))
        self.assertIn("epoch", self.run_cli("inspect", "out.pt", "--keys").out.splitlines())

    def test_a_name_in_both_is_an_error(self):
        """Lightning replaces the weights without a word."""
        self.with_meta({"epoch": 3, "model": 1})
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertEqual((result.code, result.out, self.listed()), (3, "", ["ck"]))
        self.assertRegex(result.err, r"\Afsdpckpt: error: key 'model' is in meta\.pt and in the sharded part: "
                                     r"one would replace the other\n  in:  ck/meta\.pt")

    def test_no_dict(self):
        self.with_meta([1, 2])
        error = ("meta.pt holds something else than a dict", "ck/meta.pt")
        self.assert_fails(["consolidate", "ck", "out.pt"], 3, error)
        result = self.run_cli("inspect", "ck")
        self.assertEqual((result.code, result.err), (3, harness.error_text(*error)))
        self.assertIn("\n  model.w  float32  [4, 3]", result.out)


if __name__ == "__main__":
    harness.main()
