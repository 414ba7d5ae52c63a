"""What consolidate prints and writes."""
import json
import os
import re
import zipfile

import dcp
import harness

TIME = r"\d+\.\d+ s \(\d+(\.\d)? ([KMG]i)?B/s\)"


class Consolidate(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def written(self, target, *arguments, what="2 tensors, 1 object, 895 B"):
        result = self.run_cli("consolidate", *arguments)
        self.assert_ok(result)
        self.assertRegex(result.out, rf"\A{re.escape(target)}: {re.escape(what)} in {TIME}\n\Z")
        self.assertIn(target, self.listed())

    def test_answer(self):
        self.written("out.pt", "ck", "out.pt")
        self.assertEqual(self.listed(), ["ck", "out.pt"])

    def test_names_of_the_target(self):
        self.written("ck.pt", "ck")
        self.written("a.pt", "ck", "-o", "a.pt")
        self.written("b.pt", "ck", "--output=b.pt")
        self.written("c.pt", "ck", "--output_file", "c.pt")
        self.written("d.bin", "ck", "d.bin")
        self.written("--odd.pt", "--", "ck", "--odd.pt")

    def test_default_target_lies_beside(self):
        self.written("ck.pt", "ck//")
        (self.folder / "ck.pt").unlink()
        result = self.run_cli("consolidate", f"{self.folder}/ck/.")
        self.assert_ok(result)
        self.assertEqual(self.listed(), ["ck", "ck.pt"])

    def test_content(self):
        self.written("out.pt", "ck", "out.pt")
        with zipfile.ZipFile(self.folder / "out.pt") as archive:
            self.assertIsNone(archive.testzip())
            data = [archive.read(name) for name in archive.namelist() if "/data/" in name]
        self.assertEqual(data, [dcp.floats(*range(12)), dcp.floats(1, 2)])

    def test_hard_linked_and_sparse_rank_files(self):
        before = (self.folder / "ck/__0_0.distcp").read_bytes()
        os.link(self.folder / "ck/__0_0.distcp", self.folder / "other name")
        os.truncate(self.folder / "ck/__0_0.distcp", 1 << 30)  # a hole behind the items
        self.written("out.pt", "ck", "out.pt")
        with zipfile.ZipFile(self.folder / "out.pt") as archive:
            data = [archive.read(name) for name in archive.namelist() if "/data/" in name]
        self.assertEqual(data, [dcp.floats(*range(12)), dcp.floats(1, 2)])
        with open(self.folder / "other name", "rb") as linked:
            self.assertEqual(linked.read(len(before)), before)

    def test_stdout_as_target(self):
        with open(self.folder / "piped.pt", "wb") as piped:
            self.assert_ok(self.run_cli("consolidate", "ck", "-", stdout=piped))
        with zipfile.ZipFile(self.folder / "piped.pt") as archive:
            self.assertIsNone(archive.testzip())
            data = [archive.read(name) for name in archive.namelist() if "/data/" in name]
        self.assertEqual(data, [dcp.floats(*range(12)), dcp.floats(1, 2)])
        self.assertEqual(self.listed(), ["ck", "piped.pt"])

    def test_quiet(self):
        self.assert_ok(self.run_cli("-q", "consolidate", "ck", "out.pt"), "")
        self.assertEqual(self.listed(), ["ck", "out.pt"])

    def test_dry_run_writes_nothing(self):
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-n"), "would write out.pt: 2 tensors, 1 object, 895 B\n")
        self.assertEqual(self.listed(), ["ck"])

    def test_dry_run_over_an_old_file(self):
        (self.folder / "out.pt").write_text("mine")
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-n", "-f"))
        self.assertEqual((self.folder / "out.pt").read_text(), "mine")

    def test_verify(self):
        self.written("out.pt", "ck", "out.pt", "--verify")

    def test_options_that_change_only_the_way(self):
        self.written("plain.pt", "ck", "plain.pt")
        for options in (["-j", "1"], ["-j64"], ["--memory-limit", "1K"], ["--memory-limit=3G"], ["--no-fsync"],
                        ["--progress", "never"], ["--color", "always"]):
            self.written("out.pt", "ck", "out.pt", "-f", *options)
            self.assertEqual((self.folder / "out.pt").read_bytes(), (self.folder / "plain.pt").read_bytes(), options)

    def test_small_memory_limit_on_large_tensors(self):
        dcp.big(self.folder / "big", 16).save()
        for name, options in (("a.pt", ["--memory-limit", "1"]), ("b.pt", [])):
            self.assert_ok(self.run_cli("consolidate", "big", name, *options))
        self.assertEqual((self.folder / "a.pt").read_bytes(), (self.folder / "b.pt").read_bytes())

    def test_selection(self):
        self.written("a.pt", "ck", "a.pt", "-k", "model.*", what="2 tensors, 0 objects, 895 B")
        self.written("b.pt", "ck", "b.pt", "--model-only", what="2 tensors, 0 objects, 895 B")
        self.assert_ok(self.run_cli("inspect", "b.pt", "--keys"), "model.w\nmodel.b\n")
        self.assert_ok(self.run_cli("consolidate", "ck", "c.pt", "-x", "*.w", "-x", "st?p"))
        self.assert_ok(self.run_cli("inspect", "c.pt", "--keys"), "model.b\n")

    def test_global_options_before_and_after(self):
        for arguments in (["-q", "consolidate", "ck", "out.pt"], ["consolidate", "-q", "ck", "out.pt"],
                          ["consolidate", "ck", "out.pt", "--quiet"]):
            self.assert_ok(self.run_cli(*arguments), "")
            (self.folder / "out.pt").unlink()

    def test_no_colour(self):
        for variables in ({}, {"NO_COLOR": "1"}):
            result = self.run_cli("consolidate", "ck", "out.pt", "-f", "--color", "always", env=variables)
            self.assertNotIn("\x1b", result.out + result.err)


class Fixtures(harness.CliTest):
    """Every directory of testdata/ that is whole; what is in the files is for tests/interop to judge."""

    def tensors(self, source):
        entries = json.loads(self.run_cli("--json", "inspect", source).out)["entries"]
        return {(one["name"], one["dtype"], *one["shape"]) for one in entries if one["kind"] == "tensor"}

    def test_all(self):
        sources = sorted(path.parent for path in harness.TESTDATA.rglob(".metadata"))
        self.assertGreater(len(sources), 10)
        for number, source in enumerate(sources):
            if "chunks-do-not-cover" in str(source):
                continue
            result = self.run_cli("consolidate", source, f"{number}.pt", "--verify")
            self.assertEqual(result.code, 0, f"{source}: {result.err}")
            self.assertLessEqual(self.tensors(source), self.tensors(f"{number}.pt"), source)

    def test_rank_local_metadata(self):
        self.copy("cases/rank-local-metadata/ckpt")
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"))
        self.assertIn("DCP with rank-local metadata", self.run_cli("inspect", "ck").out)


if __name__ == "__main__":
    harness.main()
