"""verify --world-size: the FSDP round trip of real checkpoints by real ranks."""
import json
import math
import unittest

import harness

CHECKPOINT = "lightning-2.6.6/fabric_fsdp"


class RoundTrip(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.copy(CHECKPOINT)

    def tensors(self):
        entries = json.loads(self.run_cli("--json", "inspect", "ck").out)["entries"]
        return [entry for entry in entries if entry["kind"] == "tensor"]

    def verify(self, *arguments, **options):
        result = self.run_cli("--json", "verify", "ck", *arguments, **options)
        document = json.loads(result.out)
        self.check_schema(document)
        return result, document

    def check_schema(self, document):
        schema = json.loads((harness.SOURCE / "man/schema/verify.schema.json").read_text())
        harness.jsonschema.validate(document, schema)

    def test_every_tensor_comes_back(self):
        tensors = self.tensors()
        for world_size, ranks in ((1, 1), (2, 2), (5, 2), (16, 2), (64, 3)):
            result, document = self.verify("--world-size", world_size, "--ranks", ranks)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual((document["world_size"], document["processes"]), (world_size, ranks))
            self.assertEqual(document["parameters"], len(tensors))
            self.assertEqual(document["bytes"], sum(tensor["bytes"] for tensor in tensors))
            self.assertEqual(document["mismatches"], [])

    def test_a_flipped_element_is_named(self):
        """One of those of which the rank has some, by ceil(rows / N) rows a rank."""
        for world_size, rank in ((4, 0), (4, 3), (7, 5)):
            def has_rows(tensor):
                rows = tensor["shape"][0] if tensor["shape"] else 1
                return math.ceil(rows / world_size) * rank < rows
            possible = [tensor["name"] for tensor in self.tensors() if has_rows(tensor)]
            result, document = self.verify("--world-size", world_size, env={"FSDPCKPT_FAULT": f"{rank}:shard:FLIP"})
            self.assertEqual((result.code, document["ok"], len(document["mismatches"])), (1, False, 1))
            self.assertIn(document["mismatches"][0], possible)

    def test_texts(self):
        result = self.run_cli("verify", "ck", "--world-size", "4")
        self.assertRegex(result.out, r"^ck: 34 parameters, .* came back bit for bit from the FSDP round trip at world size 4 "
                                     r"\(2 rank processes\)\n$")
        result = self.run_cli("verify", "ck", "--world-size", "4", "-q", env={"FSDPCKPT_FAULT": "1:shard:FLIP"})
        self.assertEqual(result.code, 1)
        self.assertRegex(result.out, r"^mismatch: '.*' does not come back as it is stored\nck: .*, 1 mismatch\n$")

    def test_a_cut_file_is_an_error(self):
        file = self.folder / "ck" / "__1_0.distcp"
        file.write_bytes(file.read_bytes()[:-100])
        result, document = self.verify("--world-size", "4")
        self.assertEqual((result.code, document["error"]["kind"]), (3, "input"))
        self.assertIn("__1_0.distcp", document["error"]["path"])

    def test_wrong_use(self):
        for arguments, what in ((["ck"], "no --world-size was given"), (["ck", "--world-size", "0"], "--world-size is '0'"),
                                (["ck", "--world-size", "2", "--ranks", "3"], "--ranks is 3, more than --world-size 2")):
            result = self.run_cli("verify", *arguments)
            self.assertEqual(result.code, 2, arguments)
            self.assertIn(what, result.err)


if __name__ == "__main__":
    unittest.main()
