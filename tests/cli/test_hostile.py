"""Pickles that would run code, rank files that are not whole, saves that did not finish: each in several forms."""
import io
import os
import zipfile

import dcp
import harness


def call(module, name, *arguments):
    return dcp.Call(dcp.real_function(module, name), *arguments)


def archive(pickled):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("archive/data.pkl", pickled)
        made.writestr("archive/version", "3\n")
    return target.getvalue()


class CodeInMetadata(harness.CliTest):
    def refused(self, pickled, named):
        dcp.small(self.folder / "ck").save()
        (self.folder / "ck/.metadata").write_bytes(pickled)
        for arguments in (["consolidate", "ck", "out.pt"], ["inspect", "ck"]):
            result = self.run_cli(*arguments)
            self.assertEqual((result.code, result.out, self.listed()), (5, "", ["ck"]))
            self.assertTrue(result.err.startswith(f"fsdpckpt: error: the metadata names '{named}', which no checkpoint "
                                                  "writer puts there; nothing was run\n  in:  ck/.metadata, byte offset "))

    def test_names_from_the_memo(self):
        self.refused(b"\x80\x04\x8c\x06system\x940\x8c\x05posix\x940h\x01h\x00\x93\x8c\x04true\x85R.", "posix.system")

    def test_name_with_dots(self):
        self.refused(b"\x80\x04\x8c\x13torch.serialization\x8c\x09os.system\x93\x8c\x04true\x85R.",
                     "torch.serialization.os.system")

    def test_name_in_lines(self):
        self.refused(b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85R.", "os.system")

    def test_attributes_of_what_is_listed(self):
        start = b"\x80\x04\x8c\x08builtins\x8c\x07getattr\x93"
        listed = b"\x8c\x25torch.distributed.checkpoint.metadata\x8c\x08Metadata\x93"
        self.refused(start + listed + b"\x8c\x08__init__\x86R.", "builtins.getattr")
        self.refused(start + b"\x8c\x13torch.serialization\x8c\x04save\x93\x8c\x0b__globals__\x86R.",
                     "builtins.getattr of torch.serialization.save")

    def test_attributes_of_attributes(self):
        listed = b"\x8c\x25torch.distributed.checkpoint.metadata\x8c\x14_MEM_FORMAT_ENCODING\x93"
        getattr_ = b"\x8c\x08builtins\x8c\x07getattr\x93\x94"
        self.refused(b"\x80\x04" + getattr_ + b"h\x00" + listed + b"\x8c\x09__class__\x86R\x8c\x07__mro__\x86R.",
                     "builtins.getattr")

    def test_call_behind_a_whole_checkpoint(self):
        made = dcp.small(self.folder / "ck")
        made.paths["x"] = dcp.Call(dcp.function("somewhere", "run"), "true")
        made.save()
        self.refused((self.folder / "ck/.metadata").read_bytes(), "somewhere.run")


class CodeInObjects(harness.CliTest):
    """Refused on converting; shown by inspect, which runs nothing either."""

    def refused(self, value, named, entry="hook", file="ck/__0_0.distcp"):
        made = dcp.small(self.folder / "ck")
        if value is not None:
            made.object("hook", value)
        made.save()
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertEqual((result.code, result.out, self.listed()), (5, "", ["ck"]))
        self.assertEqual(result.err, harness.error_text(
            f"the object names {named}, which can run code when it is loaded; nothing was run",
            f"{file}, entry '{entry}'", "--objects drop leaves all objects out"))
        shown = self.run_cli("inspect", "ck", "--show", "objects")
        self.assert_ok(shown)
        self.assertIn("refuses ", shown.out)

    def test_eval(self):
        self.refused(call("builtins", "eval", "1"), "'builtins.eval'")

    def test_deep_in_a_value(self):
        self.refused({"a": [1, {"b": (2, call("os", "system", "true"))}]}, "'os.system'")

    def test_partial_of_it(self):
        self.refused(call("functools", "partial", dcp.real_function("posix", "system"), "true"),
                     "'functools.partial', 'posix.system'")

    def test_chain_of_attributes(self):
        getattr_ = dcp.real_function("builtins", "getattr")
        inner = dcp.Call(getattr_, dcp.function("torch.serialization", "save"), "__globals__")
        self.refused(dcp.Call(getattr_, inner, "os"), "'builtins.getattr', 'torch.serialization.save'")

    def test_loader(self):
        self.refused(call("pickle", "loads", b"x"), "'pickle.loads'")

    def test_in_meta_pt(self):
        dcp.small(self.folder / "ck").save()
        (self.folder / "ck/meta.pt").write_bytes(dcp.torch_zip({"epoch": call("os", "popen", "true")}))
        self.refused(None, "'os.popen'", "epoch", "ck/meta.pt")

    def test_opcodes_of_the_text_protocols(self):
        dcp.small(self.folder / "ck").save()
        for pickled in (b"\x80\x02}(X\x01\0\0\0a(S'true'\nios\nsystem\nu.", b"\x80\x02(cos\nsystem\nX\x04\0\0\0trueo."):
            (self.folder / "ck/meta.pt").write_bytes(archive(pickled))
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertIn(result.code, (3, 5))
            self.assertEqual((result.out, self.listed()), ("", ["ck"]))
            self.assertIn("\n  in:  ck/meta.pt", result.err)


class RankFiles(harness.CliTest):
    def test_not_whole(self):
        """At the start, in the stored values, in the directory of an item, and of no length at all."""
        made = dcp.small(self.folder / "ck", ranks=3)
        item = made.files["__2_0.distcp"]
        made.save()
        for length in (0, 1, 20, item.index(dcp.floats(6, 7)) + 8, item.index(b"PK\1\2") + 10, len(item) - 1):
            os.truncate(self.folder / "ck/__2_0.distcp", 0)
            (self.folder / "ck/__2_0.distcp").write_bytes(item[:length])
            result = self.run_cli("consolidate", "ck", "out.pt")
            self.assertEqual((result.code, result.out, self.listed()), (3, "", ["ck"]), length)
            for part in ("__2_0.distcp", str(len(item)), str(length)):
                self.assertIn(part, result.err)

    def test_longer_than_needed(self):
        made = dcp.small(self.folder / "ck")
        made.files["__1_0.distcp"] += b"left by somebody" * 100
        made.save()
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt"))

    def test_one_of_three_is_missing(self):
        made = dcp.small(self.folder / "ck", ranks=2)
        made.tensor("x", (2,), [((0,), (2,), "__2_0.distcp", None)])
        made.save()
        os.remove(self.folder / "ck/__1_0.distcp")
        result = self.run_cli("consolidate", "ck", "out.pt")
        self.assertEqual((result.code, result.out, self.listed()), (3, "", ["ck"]))
        self.assertIn("__1_0.distcp", result.err)
        self.assertNotIn("__2_0.distcp", result.err)

    def test_both_kinds_at_once(self):
        made = dcp.small(self.folder / "ck", ranks=2)
        made.tensor("x", (2,), [((0,), (2,), "__2_0.distcp", None)])
        made.save()
        os.remove(self.folder / "ck/__1_0.distcp")
        os.truncate(self.folder / "ck/__2_0.distcp", 5)
        self.assertEqual(self.run_cli("consolidate", "ck", "out.pt").code, 3)
        self.assertEqual(self.listed(), ["ck"])


class UnfinishedSaves(harness.CliTest):
    """One exit code for all, so that a script can go on to an older checkpoint; .metadata is named."""

    def test_every_form(self):
        whole = dcp.small(self.folder / "ck").save() and (self.folder / "ck/.metadata").read_bytes()
        forms = {"none": {}, "tmp": {".metadata.tmp": whole}, "tmp of a rank": {"__0.metadata.tmp": whole},
                 "empty": {".metadata": b""}, "cut": {".metadata": whole[:len(whole) // 2]},
                 "start": {".metadata": whole[:2]}, "zeros": {".metadata": bytes(len(whole))},
                 "cut rank": {"__0.metadata": whole[:200]}}
        os.remove(self.folder / "ck/.metadata")
        for form, files in forms.items():
            for name, data in files.items():
                (self.folder / "ck" / name).write_bytes(data)
            for arguments in (["consolidate", "ck", "out.pt"], ["inspect", "ck"]):
                with self.subTest(form):
                    result = self.run_cli(*arguments)
                    self.assertEqual((result.code, result.out, self.listed()), (3, "", ["ck"]))
                    self.assertIn("metadata", result.err)
                    self.assertRegex(result.err, "unfinished|never written")
            for name in files:
                os.remove(self.folder / "ck" / name)


if __name__ == "__main__":
    harness.main()
