"""--ranks N: the bytes, notes and errors of one process, whatever N is and whichever pieces the ranks send."""
import os
import random

import dcp
import harness
import worlds

SIZES = (2, 3, 4, 8)
EXCHANGES = ("auto", "always")
BROKEN = harness.TESTDATA / "cases/chunks-do-not-cover"
SOURCES = sorted({path.parent for pattern in (".metadata", "__0.metadata") for path in harness.TESTDATA.rglob(pattern)
                  if BROKEN not in path.parents})
EIGHT = "torch-2.15.0/fsdp2_tp_2x2"
# By default each checkpoint is done once, by worlds that take turns.
TURNS = [(2, "always"), (3, "auto"), (2, "auto"), (4, "always"), (3, "always"), (2, "always"), (4, "auto")]

TORCHRUN = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
SLURM = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "1",
         "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "node1"}
OPENMPI = {f"OMPI_COMM_WORLD_{name}": value
           for name, value in (("RANK", "0"), ("SIZE", "2"), ("LOCAL_RANK", "0"), ("LOCAL_SIZE", "2"))}
PMI = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2"}


class Worlds(harness.CliTest):
    def document(self, source, target, *options):
        """What --json says, without what differs between equal runs."""
        result = self.run_cli("--json", "consolidate", source, target, "--no-fsync", *options)
        self.assert_ok(result)
        document = harness.valid_document(self, result.out, "consolidate")
        self.assertEqual(document.pop("path"), target)
        self.assertGreater(document.pop("seconds"), 0)
        return document

    def by_ranks(self, size, exchange):
        return ["--ranks", size, "--exchange", exchange]

    def same(self, source, size, exchange, *options):
        """The same file and report as without ranks; returns what each rank did."""
        alone = self.document(source, "alone.pt", "--force", *options)
        together = self.document(source, "out.pt", "--force", *options, *self.by_ranks(size, exchange))
        world = together.pop("world", None)
        self.assertEqual(together, alone)
        self.assertEqual((self.folder / "out.pt").read_bytes(), (self.folder / "alone.pt").read_bytes())
        self.assertEqual([name for name in self.listed() if name.endswith(".tmp")], [])
        if size == 1:
            return self.assertIsNone(world)
        self.check_counts(world, size, exchange, alone)
        return world["ranks"]

    def check_counts(self, world, size, exchange, document):
        self.assertRegex(world["backend"], r"\Ac10d gloo, LibTorch \d+\.\d+")
        self.assertEqual((len(world["ranks"]), len({rank["pid"] for rank in world["ranks"]})), (size, size))
        total = {name: sum(rank[name] for rank in world["ranks"])
                 for name in ("read_bytes", "sent_bytes", "received_bytes", "written_bytes")}
        self.assertEqual(total["written_bytes"], document["file_bytes"])
        self.assertGreaterEqual(total["read_bytes"], document["tensor_bytes"])
        self.assertEqual(total["sent_bytes"], total["received_bytes"])
        self.assertEqual(total["sent_bytes"], world["collective_bytes"]["send_recv"])
        if exchange == "auto":
            self.assertEqual(total["sent_bytes"], 0)
        else:
            self.assertEqual(total["sent_bytes"], total["read_bytes"])
        self.assertGreater(min(world["collective_bytes"][name] for name in ("broadcast", "all_gather")), 0)
        self.assertGreater(min(rank["peak_anon_bytes"] for rank in world["ranks"]), 0)


class EveryCheckpoint(Worlds):
    def test_one_rank(self):
        self.assertGreater(len(SOURCES), 10)
        for source in SOURCES:
            for exchange in EXCHANGES:
                with self.subTest(source=source, exchange=exchange):
                    self.same(source, 1, exchange)

    def test_in_turn(self):
        for number, source in enumerate(SOURCES):
            size, exchange = TURNS[number % len(TURNS)]
            with self.subTest(source=source, ranks=size, exchange=exchange):
                self.same(source, size, exchange)

    def test_more_ranks_than_it_was_saved_by(self):
        self.same(harness.TESTDATA / EIGHT, 8, "always")

    @worlds.slow
    def test_product(self):
        for source in SOURCES:
            for size in SIZES:
                for exchange in EXCHANGES:
                    with self.subTest(source=source, ranks=size, exchange=exchange):
                        self.same(source, size, exchange)


class ManyTiles(Worlds):
    """24 MiB by rows, by columns and by uneven rows in four rank files: each rank has something to do, in several rounds."""

    def setUp(self):
        super().setUp()
        chance, made = random.Random(1), dcp.Directory(self.folder / "ck")
        rows, columns = 64, 1 << 15
        boxes = {
            "rows": [((16 * i, 0), (16, columns)) for i in range(4)],
            "columns": [((0, columns // 4 * i), (rows, columns // 4)) for i in range(4)],
            "uneven": [((at, 0), (count, columns)) for at, count in ((0, 1), (1, 30), (31, 2), (33, 31))],
        }
        for name, chunks in boxes.items():
            made.tensor(name, (rows, columns), [(*box, f"__{i}_0.distcp", chance.randbytes(4 * dcp.numel_of(box[1])))
                                                for i, box in enumerate(chunks)])
        made.object("step", 7)
        made.save()

    def test_nothing_is_sent_on_one_host(self):
        for rank in self.same("ck", 4, "auto"):
            self.assertGreater(rank["written_bytes"], 4 << 20)
            self.assertGreater(rank["read_bytes"], 4 << 20)

    def test_all_is_sent(self):
        for rank in self.same("ck", 3, "always"):
            self.assertGreater(rank["written_bytes"], 4 << 20)
            self.assertGreater(rank["sent_bytes"], 4 << 20)
            self.assertGreater(rank["received_bytes"], 4 << 20)

    def test_verify(self):
        self.same("ck", 2, "always", "--verify")

    @worlds.slow
    def test_product(self):
        for size in SIZES:
            for exchange in EXCHANGES:
                for options in ([], ["--verify"], ["-k", "columns"], ["-j", "1", "--memory-limit", "16M"]):
                    with self.subTest(ranks=size, exchange=exchange, options=options):
                        self.same("ck", size, exchange, *options)


class Options(Worlds):
    OPTIONS = (["--model-only", "--clean"], ["-x", "optimizer*"], ["--objects", "drop"], ["--add-prefix", "net."],
               ["--keep-device"], ["--no-checksum"])
    SOURCE = harness.TESTDATA / "torch-2.0.1/st_w2"

    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def test_dry_run(self):
        before = self.listed()
        alone = self.document("ck", "out.pt", "--dry-run")
        together = self.document("ck", "out.pt", "--dry-run", "--ranks", "2")
        together.pop("world", None)
        self.assertEqual((together, self.listed()), (alone, before))

    def test_texts(self):
        source = harness.TESTDATA / "lightning-2.6.6/fabric_fsdp"
        alone = self.run_cli("consolidate", source, "out.pt")
        together = self.run_cli("consolidate", source, "out.pt", "--ranks", "2", "--force")
        self.assertEqual((together.code, together.err), (0, alone.err))
        self.assertRegex(together.err, r"\Afsdpckpt: note: ")
        self.assertEqual(together.out.split(" in ")[0], alone.out.split(" in ")[0])
        self.assertEqual(together.out.count("\n"), 1)

    def test_files_in_several_folders(self):
        os.mkdir(self.folder / "other")
        os.rename(self.folder / "ck/__1_0.distcp", self.folder / "other/__1_0.distcp")
        self.same("ck", 2, "always", "--files-in", "other")

    def test_what_an_interrupted_run_left(self):
        left = ".out.pt.fsdpckpt-1-2.tmp"
        (self.folder / left).write_text("")
        result = self.run_cli("consolidate", "ck", "out.pt", "--ranks", "2", "-f")
        self.assertEqual((result.code, self.listed()), (0, [left, "ck", "out.pt"]))
        self.assertEqual(result.err, f"fsdpckpt: note: left by an interrupted run, or in use by another: '{left}'\n")

    @worlds.slow
    def test_each(self):
        for options in self.OPTIONS:
            with self.subTest(options=options):
                self.same(self.SOURCE, 3, "always", *options)


class Errors(Worlds):
    """What one process says, with the rank that says it; nothing is written."""

    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def error(self, arguments):
        before = self.listed()
        result = self.run_cli("--json", "consolidate", *arguments)
        document = harness.valid_document(self, result.out, "consolidate")
        self.assertEqual((document["ok"], self.listed()), (False, before))
        self.assertEqual(result.code, document["error"]["exit_code"])
        return document["error"], result.err.splitlines()

    def same_error(self, code, *arguments, ranks=2, exchange="auto"):
        alone, lines = self.error(arguments)
        together, marked = self.error([*arguments, *self.by_ranks(ranks, exchange)])
        self.assertEqual(alone["exit_code"], code)
        rank = together.pop("rank")
        self.assertIn(rank, range(ranks))
        self.assertEqual(together, alone)
        self.assertRegex(marked[1], rf"\A  in:  (.*, )?rank {rank} of {ranks}\b")
        self.assertEqual([line for line in marked if not line.startswith("  in:  ")],
                         [line for line in lines if not line.startswith("  in:  ")])
        where = [line for line in lines if line.startswith("  in:  ")]
        self.assertTrue(marked[1].startswith(where[0] if where else "  in:  rank"), marked)

    def flip_a_bit(self):
        path = self.folder / "ck/__1_0.distcp"
        item = bytearray(path.read_bytes())
        item[item.index(dcp.floats(6, 7))] ^= 1
        path.write_bytes(item)

    def test_gap(self):
        self.same_error(3, BROKEN / "gap", "out.pt")

    def test_flipped_bit(self):
        self.flip_a_bit()
        self.same_error(3, "ck", "out.pt", exchange="always")

    def test_missing_file(self):
        os.remove(self.folder / "ck/__1_0.distcp")
        self.same_error(3, "ck", "out.pt")

    def test_existing_target(self):
        (self.folder / "out.pt").write_text("mine")
        self.same_error(5, "ck", "out.pt")
        self.assertEqual((self.folder / "out.pt").read_text(), "mine")

    @worlds.slow
    def test_every_input_that_is_wrong(self):
        self.flip_a_bit()
        for name, change in (("missing", lambda path: os.remove(path)), ("cut", lambda path: os.truncate(path, 600)),
                             ("empty", lambda path: os.truncate(path, 0))):
            dcp.small(self.folder / name).save()
            change(self.folder / name / "__1_0.distcp")
        dcp.small(self.folder / "cut-metadata").save()
        os.truncate(self.folder / "cut-metadata/.metadata", 100)
        dcp.small(self.folder / "no-metadata").save()
        os.remove(self.folder / "no-metadata/.metadata")
        sources = ["ck", "missing", "cut", "empty", "cut-metadata", "no-metadata", "nothing", *sorted(BROKEN.glob("*/"))]
        for source in sources:
            for ranks, exchange in ((2, "auto"), (2, "always"), (4, "auto"), (4, "always")):
                with self.subTest(source=source, ranks=ranks, exchange=exchange):
                    self.same_error(3, source, "out.pt", ranks=ranks, exchange=exchange)

    @worlds.slow
    def test_every_target_and_key_that_is_wrong(self):
        for code, arguments in ((4, ["ck", "no/out.pt"]), (5, ["ck", "ck/out.pt"]), (5, ["ck", "ck", "--force"]),
                                (2, ["ck", "out.pt", "-k", "modle.w"]), (2, ["ck", "out.pt", "--strip-prefix", "modle"])):
            for ranks in (2, 4):
                with self.subTest(arguments=arguments, ranks=ranks):
                    self.same_error(code, *arguments, ranks=ranks)


class Usage(harness.CliTest):
    """Said before a rank is started."""

    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck").save()

    def wrong(self, options, what, hint="", **environment):
        self.assert_fails(["consolidate", "ck", *options], 2, (what, "", hint), env=environment)

    def test_number_of_ranks(self):
        for number in ("0", "-1", "x", "2000", "1025", "2.5", "2 "):
            self.wrong([f"--ranks={number}"], f"--ranks is '{number}': a number from 1 to 1024 was expected")
        self.wrong(["--ranks", "-1"], "--ranks is '-1': a number from 1 to 1024 was expected")
        self.wrong(["--ranks"], "--ranks needs a value", "fsdpckpt help consolidate")
        self.wrong(["--ranks="], "--ranks needs a value", "fsdpckpt help consolidate")

    def test_timeout(self):
        expected = "a time such as 300, 90s, 5m or 500ms was expected"
        for time in ("x", "0", "-1s", "1.5s", "9d", "99999999h"):
            self.wrong(["--ranks", "2", "--timeout", time], f"--timeout is '{time}': {expected}")
        self.wrong(["--ranks", "2"], f"FSDPCKPT_TIMEOUT is 'soon': {expected}", FSDPCKPT_TIMEOUT="soon")

    def test_exchange(self):
        self.wrong(["--exchange", "x"], "--exchange is 'x': auto or always were expected")
        self.wrong(["--ranks", "2", "--exchange", "allways"], "--exchange is 'allways': auto or always were expected",
                   "--exchange always")

    def test_within_another_launcher(self):
        for launcher, variables in (("torchrun", TORCHRUN), ("srun", SLURM), ("mpirun", OPENMPI), ("mpiexec", PMI)):
            for ranks in ("1", "2"):
                self.wrong(["--ranks", ranks], f"--ranks and {launcher}'s 2 ranks exclude each other", **variables)

    def test_half_of_another_launchers_variables(self):
        self.wrong(["--ranks", "2"], "RANK is not set: WORLD_SIZE needs it", WORLD_SIZE="2")
        self.wrong(["--ranks", "2"], "WORLD_SIZE is not set: RANK needs it", RANK="0")

    def test_stdout(self):
        self.wrong(["-", "--ranks", "2"], "DST '-' and --ranks exclude each other")
        self.wrong(["-o", "-", "--ranks", "2"], "DST '-' and --ranks exclude each other")

    def test_inspect_has_none(self):
        self.assert_fails(["inspect", "ck", "--ranks", "2"], 2, ("unknown option '--ranks'", "", "fsdpckpt help inspect"))


if __name__ == "__main__":
    harness.main()
