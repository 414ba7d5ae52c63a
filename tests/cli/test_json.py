"""--json: one document on stdout, valid by its schema, also when the run fails; the same bytes for the same input."""
import re

import jsonschema

import dcp
import harness


class Documents(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def document(self, *arguments, schema, code=0):
        result = self.run_cli("--json", *arguments)
        self.assertEqual(result.code, code, result.err)
        if code == 0:
            self.assertEqual(result.err, "")
        document = harness.valid_document(self, result.out, schema)
        self.assertEqual(document["ok"], code == 0)
        return document

    def test_inspect(self):
        document = self.document("inspect", "ck", schema="inspect")
        self.assertEqual(document["totals"], {"tensors": 2, "objects": 1, "elements": 14, "bytes": 56, "chunks": 3,
                                              "ranks": 2, "dtypes": {"float32": {"tensors": 2, "bytes": 56}}})
        self.assertEqual(document["entries"], [
            {"name": "model.w", "path": ["model", "w"], "kind": "tensor", "dtype": "float32", "shape": [4, 3], "bytes": 48,
             "chunk_count": 2, "chunks": [{"offsets": [0, 0], "sizes": [2, 3], "file": "__0_0.distcp", "offset": 0, "length": 608},
                                          {"offsets": [2, 0], "sizes": [2, 3], "file": "__1_0.distcp", "offset": 0, "length": 608}]},
            {"name": "model.b", "path": ["model", "b"], "kind": "tensor", "dtype": "float32", "shape": [2], "bytes": 8,
             "chunk_count": 1, "chunks": [{"offsets": [0], "sizes": [2], "file": "__0_0.distcp", "offset": 608, "length": 588}]},
            {"name": "step", "path": ["step"], "kind": "object", "bytes": 359, "value": "7", "globals": [], "weights_only": True,
             "weights_only_since": "2.0", "weights_only_refuses": []}])
        self.assertEqual(document["parts"], [{"name": "model", "tensors": 2, "objects": 0, "elements": 14, "bytes": 56},
                                             {"tensors": 0, "objects": 1, "elements": 0, "bytes": 0}])
        self.assertEqual((document["framework"], document["writer"]), ("", "DCP as written by torch 2.3"))
        self.assertEqual([(file["path"], file["state"], file.get("referenced")) for file in document["files"]],
                         [(".metadata", "whole", None), ("__0_0.distcp", "whole", 1555), ("__1_0.distcp", "whole", 608)])

    def test_inspect_leaves_out_what_is_not_asked_for(self):
        for show, has_chunks, has_value in (("entries", False, False), ("chunks", True, False), ("objects", False, True)):
            entries = self.document("inspect", "ck", "--show", show, schema="inspect")["entries"]
            self.assertEqual(("chunks" in entries[0], "value" in entries[2]), (has_chunks, has_value), show)

    def test_inspect_says_what_weights_only_refuses(self):
        made = dcp.small(self.folder / "ck")
        made.object("odd", dcp.Call(dcp.function("argparse", "Namespace"), b"x"))
        made.save()
        odd = self.document("inspect", "ck", schema="inspect")["entries"][-1]
        self.assertEqual((odd["globals"], odd["weights_only"], odd["weights_only_refuses"]),
                         (["argparse.Namespace", "_codecs.encode"], False, ["argparse.Namespace"]))
        self.assertNotIn("weights_only_since", odd)

    def test_every_checkpoint_of_testdata(self):
        sources = [*harness.TESTDATA.rglob(".metadata"), *harness.TESTDATA.rglob("__0.metadata")]
        files = [path for path in harness.TESTDATA.rglob("*.pt") if "legacy" not in path.name]
        self.assertGreater(len(files), 10)
        for source in [*(path.parent for path in sources), *files]:
            result = self.run_cli("--json", "inspect", source, "--show", "chunks")
            document = harness.valid_document(self, result.out, "inspect")
            self.assertEqual(document["ok"], result.code == 0, source)

    def test_consolidate(self):
        document = self.document("consolidate", "ck", "out.pt", schema="consolidate")
        seconds = document.pop("seconds")
        self.assertGreater(seconds, 0)
        self.assertEqual(document, {
            "schema": "fsdpckpt.consolidate/1", "ok": True, "path": "out.pt", "dry_run": False, "tensors": 2, "objects": 1,
            "tensor_bytes": 56, "file_bytes": (self.folder / "out.pt").stat().st_size, "chunks": 3,
            "chunks_without_checksum": 0, "replicas_compared": 0, "notes": []})
        document = self.document("consolidate", "ck", "two.pt", "-n", schema="consolidate")
        self.assertEqual((document["dry_run"], self.listed()), (True, ["ck", "out.pt"]))

    def test_notes_are_in_the_document(self):
        (self.folder / "ck/__7_0.distcp").write_bytes(b"old")
        for command, rest in (("inspect", []), ("consolidate", ["out.pt"])):
            document = self.document(command, "ck", *rest, schema=command)
            self.assertEqual(document["notes"], ["not referenced by the metadata, left alone: '__7_0.distcp'"])

    def test_equal_bytes(self):
        for arguments in (["inspect", "ck"], ["inspect", "ck", "--show", "chunks"], ["consolidate", "ck", "out.pt", "-f"],
                          ["consolidate", "ck", "out.pt", "-fn"]):
            texts = {re.sub(r'"seconds":[^,]+', "", self.run_cli("--json", *arguments).out) for _ in range(3)}
            self.assertEqual(len(texts), 1)

    def test_names_that_are_no_text(self):
        made = dcp.Directory(self.folder / "odd")
        made.tensor("ü\x1b\u202e\n", (1,), [((0,), (1,), "__0_0.distcp", None)])
        made.save()
        text = self.run_cli("--json", "inspect", "odd").out
        self.assertEqual(harness.valid_document(self, text, "inspect")["entries"][0]["name"], "ü\x1b\u202e\n")
        self.assertNotIn("\x1b", text)
        bad = b"/ck\xff"
        result = self.run_cli("--json", "inspect", bad.decode(errors="surrogateescape"))
        self.assertEqual(harness.valid_document(self, result.out, "inspect")["error"]["path"], "/ck\\xff")


class Failures(harness.CliTest):
    """The document says what stderr says."""

    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def failure(self, arguments, code, schema, **members):
        result = self.run_cli(*arguments)
        document = harness.valid_document(self, result.out, schema)
        self.assertEqual((result.code, document["ok"]), (code, False))
        error = document["error"]
        self.assertEqual(error["exit_code"], code)
        self.assertTrue(result.err.startswith(f"fsdpckpt: error: {error['message']}\n"), result.err)
        self.assertEqual({**error, **members}, error)
        return error

    def test_usage(self):
        self.failure(["--json"], 2, "error", kind="usage", hint="fsdpckpt help")
        self.failure(["--json", "frobnicate"], 2, "error", kind="usage")
        self.failure(["--json", "help", "frobnicate"], 2, "error", kind="usage")
        self.failure(["--json", "--colour"], 2, "error", kind="usage", hint="--color")
        for command in ("inspect", "consolidate"):
            self.failure(["--json", command], 2, command, kind="usage", message="no SRC was given")
            self.failure([command, "ck", "--bogus", "--json"], 2, command, kind="usage")
            self.failure([command, "ck", "--json", "-k"], 2, command, kind="usage", message="--key needs a value")
            self.failure([command, "ck", "--json", "-k", "modle.w"], 2, command, kind="usage", path="ck")

    def test_values_of_options(self):
        for option, value in (("--rename", "abc"), ("--rename", "(=x"), ("--objects", "kepp"), ("--files-in", "")):
            self.failure(["--json", "consolidate", "ck", option, value], 2, "consolidate", kind="usage")
        self.failure(["--json", "consolidate", "ck", "--strip-prefix", "modle"], 2, "consolidate", kind="usage", path="ck")
        self.failure(["--json", "consolidate", "ck", "-"], 2, "consolidate", kind="usage")
        self.failure(["--json", "inspect", "ck", "--keys"], 2, "inspect", kind="usage")

    def test_variables(self):
        result = self.run_cli("--json", "consolidate", "ck", env={"FSDPCKPT_THREADS": "x"})
        document = harness.valid_document(self, result.out, "consolidate")
        self.assertEqual(document["error"]["message"], "FSDPCKPT_THREADS is 'x': a number from 1 to 1024 was expected")

    def test_input(self):
        for command in ("inspect", "consolidate"):
            self.failure(["--json", command, "nothing"], 3, command, kind="input", path="nothing")
            (self.folder / "cut").mkdir(exist_ok=True)
            (self.folder / "cut/.metadata").write_bytes((self.folder / "ck/.metadata").read_bytes()[:100])
            self.failure(["--json", command, "cut"], 3, command, kind="input", path="cut/.metadata", offset=97)

    def test_two_formats(self):
        (self.folder / "two").write_bytes(b"\x80\x02}." + dcp.torch_zip({}))
        for command in ("inspect", "consolidate"):
            self.failure(["--json", command, "two"], 5, command, kind="refused", path="two")

    def test_entry_and_box(self):
        made = dcp.Directory(self.folder / "wide")
        made.tensor("w", (4,), [((2,), (4,), "__0_0.distcp", None)])
        made.save()
        for command in ("inspect", "consolidate"):
            self.failure(["--json", command, "wide"], 3, command, kind="input", path="wide", entry="w", box="[2:6]")

    def test_refused(self):
        (self.folder / "out.pt").write_text("")
        self.failure(["--json", "consolidate", "ck", "out.pt"], 5, "consolidate", kind="refused", path="out.pt",
                     message="output already exists", hint="pass --force to replace it")

    def test_io(self):
        self.failure(["--json", "consolidate", "ck", "no/out.pt"], 4, "consolidate", kind="io", path="no")


class Schemas(harness.CliTest):
    """The schemas are strict enough to notice what goes missing."""

    def test_members_are_required(self):
        dcp.small(self.folder / "ck").save()
        for command in ("inspect", "consolidate"):
            document = harness.valid_document(self, self.run_cli("--json", command, "ck").out, command)
            rules = harness.json.loads((harness.SOURCE / f"man/schema/{command}.schema.json").read_text())
            for member in document:
                less = {name: value for name, value in document.items() if name != member}
                self.assertFalse(jsonschema.Draft7Validator(rules).is_valid(less), f"{command}: {member}")
            self.assertFalse(jsonschema.Draft7Validator(rules).is_valid({**document, "ok": False}))


if __name__ == "__main__":
    harness.main()
