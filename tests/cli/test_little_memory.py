"""Memory smaller than a tensor: it is copied in parts, whether it lies in one chunk or in many."""
import resource
import zipfile

import dcp
import harness

MEMORY = 80 << 20
TENSOR = 160 << 20


class LittleMemory(harness.CliTest):
    def copied_in_little_memory(self, chunks):
        self.assertGreater(TENSOR, MEMORY)
        made = dcp.Directory(self.folder / "ck")
        made.tensor("w", (40, 1 << 20), chunks)
        made.save()
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        for options in ([], ["-f", "--verify"], ["-f", "-j", "1"]):
            self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", *options, preexec_fn=limit))
            with zipfile.ZipFile(self.folder / "out.pt") as archive:
                (data,) = [archive.getinfo(name) for name in archive.namelist() if "/data/" in name]
                self.assertEqual(data.file_size, TENSOR)
                self.assertIsNone(archive.testzip())

    def test_in_one_chunk(self):
        self.copied_in_little_memory([((0, 0), (40, 1 << 20), "__0_0.distcp", None)])

    def test_in_rows(self):
        self.copied_in_little_memory([((i, 0), (10, 1 << 20), f"__{i}_0.distcp", None) for i in range(0, 40, 10)])

    def test_in_columns(self):
        half = 1 << 19
        self.copied_in_little_memory([((0, i * half), (40, half), f"__{i}_0.distcp", None) for i in range(2)])

    def test_less_than_the_program_itself_needs(self):
        """An error like any other, not a crash."""
        dcp.small(self.folder / "ck").save()
        made = dcp.Directory(self.folder / "many")
        made.list("w", (300_000,), [((i,), (1,)) for i in range(300_000)])
        made.save()
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (8 << 20, 8 << 20))
        self.assert_ok(self.run_cli("consolidate", "ck", "out.pt", "-j", "1", "--memory-limit", "1M", preexec_fn=limit))
        self.assert_fails(["inspect", "many"], 4, ("out of memory",), preexec_fn=limit)


if __name__ == "__main__":
    harness.main()
