"""A rank that dies, stops or falls silent, at any stage: exit code 6, one message that names it, and nothing is left."""
import concurrent.futures
import dataclasses
import itertools
import os
import random
import re
import signal
import time

import dcp
import harness
import worlds

SECONDS = 10  # with a timeout of 5 s, between a rank's failure and the end of all
TOGETHER = 6  # ranks of runs side by side, which mostly wait
RANDOM_KILLS = 30
# A busy machine may not start the ranks within 5 s: then the run never comes to its fault, and is done again.
NOT_MET = re.compile(r"error: rank 0 (did not answer|told no port) within 5 ?s\n|could not meet the others")
MOST_STARTS = 4
STAGES = ("rendezvous", "plan", "data", "commit")
HAPPENED = {
    "KILL": r"was killed by signal 9\b",
    "STOP": r"was stopped \(signal 19\) and did not answer within 5 ?s\b",
    "EXIT": r"ended with exit code 1\b",
}


@dataclasses.dataclass(frozen=True)
class Case:
    size: int
    rank: int
    stage: str
    action: str

    @property
    def fault(self):
        return f"{self.rank}:{self.stage}:{self.action}"

    @property
    def target(self):
        return f"{self.size}-{self.rank}-{self.stage}-{self.action}.pt"


ALL = [Case(size, rank, stage, action)
       for size in (2, 4)
       for rank, stage, action in itertools.product(range(size), STAGES, HAPPENED)]
# Each stage with each action.
SELECTED = [
    Case(2, 0, "rendezvous", "STOP"), Case(2, 1, "rendezvous", "KILL"), Case(2, 1, "rendezvous", "EXIT"),
    Case(2, 1, "plan", "STOP"), Case(2, 0, "plan", "KILL"), Case(4, 3, "plan", "EXIT"),
    Case(2, 0, "data", "STOP"), Case(4, 2, "data", "KILL"), Case(2, 0, "data", "EXIT"),
    Case(2, 1, "commit", "STOP"), Case(2, 0, "commit", "KILL"), Case(2, 1, "commit", "EXIT"),
]


@dataclasses.dataclass
class Outcome:
    result: harness.Result
    seconds: float
    survivors: dict


class Ranks(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.small(self.folder / "ck", ranks=4).save()
        self.ground = self.listed()

    def run_with(self, fault, size, *options, source="ck", to="out.pt", timeout="100s"):
        return worlds.Run(self, source, to, "--ranks", size, "--timeout", timeout, "--no-fsync", *options, fault=fault)

    def hang(self, fault, size=2, *options):
        """A run that waits for a rank which will not answer."""
        run = self.run_with(fault, size, *options)
        rank = int(fault.split(":")[0])
        self.assertTrue(harness.wait_for(lambda: rank in run.stopped(), 60), "the rank did not come to its fault")
        return run

    def assert_nothing_left(self, run):
        self.assertEqual((self.listed(), run.ranks()), (self.ground, {}))



class Matrix(Ranks):
    """Ranks x stages x ways to fail."""

    def outcome(self, case):
        for _ in range(MOST_STARTS):
            run = self.run_with(case.fault, case.size, "--json", to=case.target, timeout="5s")
            seconds = run.seconds_after_loss(case.size)
            outcome = Outcome(run.result(), seconds, run.ranks())
            if not NOT_MET.search(outcome.result.err):
                break
        return outcome

    def check(self, case, outcome):
        result = outcome.result
        self.assertEqual(result.code, 6, result.err)
        self.assertRegex(result.err, rf"\Afsdpckpt: error: rank {case.rank} {HAPPENED[case.action]}[^\n]*\n"
                                     rf"  in:  rank {case.rank} of {case.size}, pid \d+\b[^\n]*\n\Z")
        error = harness.valid_document(self, result.out, "consolidate")["error"]
        self.assertEqual((error["kind"], error["exit_code"], error["rank"]), ("ranks", 6, case.rank))
        self.assertIn(f"error: {error['message']}\n", result.err)
        self.assertLess(outcome.seconds, SECONDS)
        self.assertEqual(outcome.survivors, {})

    def check_all(self, cases):
        for size in (2, 4):
            self.check_side_by_side([case for case in cases if case.size == size], TOGETHER // size)
        self.assertEqual(self.listed(), self.ground)

    def check_side_by_side(self, cases, workers):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for case, outcome in zip(cases, pool.map(self.outcome, cases)):
                with self.subTest(ranks=case.size, fault=case.fault):
                    self.check(case, outcome)

    def test_selected(self):
        self.check_all(SELECTED)

    @worlds.slow
    def test_all(self):
        self.assertEqual(len(ALL), 72)
        self.check_all(ALL)


class Survivors(Ranks):
    def test_two_ranks_are_killed(self):
        run = self.hang("1:data:STOP", 4)
        ranks = run.ranks()
        for number in (2, 3):
            os.kill(ranks[number].pid, signal.SIGKILL)
        seconds, result = run.seconds_after_loss(4), run.result()
        self.assertEqual((result.code, result.out), (6, ""))
        self.assertRegex(result.err, r"\Afsdpckpt: error: rank ([23]) was killed by signal 9\b[^\n]*\n"
                                     r"  in:  rank \1 of 4, [^\n]*\n\Z")
        self.assertLess(seconds, SECONDS)
        self.assert_nothing_left(run)

    def test_a_rank_that_continues_in_time(self):
        self.assert_ok(self.run_cli("consolidate", "ck", "one.pt", "--no-fsync"))
        run = self.hang("1:data:STOP", 2, "-q")
        time.sleep(0.5)
        os.kill(run.ranks()[1].pid, signal.SIGCONT)
        self.assert_ok(run.result(), "")
        self.assertEqual((self.folder / "out.pt").read_bytes(), (self.folder / "one.pt").read_bytes())
        self.assertEqual(self.listed(), ["ck", "one.pt", "out.pt"])

    def test_an_old_file_stays(self):
        (self.folder / "out.pt").write_text("mine")
        result = self.run_with("1:commit:KILL", 2, "--force").result()
        self.assertEqual((result.code, (self.folder / "out.pt").read_text()), (6, "mine"))
        self.assertEqual(self.listed(), ["ck", "out.pt"])

    def test_first_rank_is_killed_as_soon_as_its_temporary_file_is_there(self):
        run = self.run_with(None, 2)
        self.assertTrue(harness.wait_for(lambda: 0 in run.ranks() or run.has_ended()))
        first = run.ranks()[0].pid
        self.assertTrue(harness.wait_for(lambda: worlds.temporaries(self) or run.has_ended()))
        os.kill(first, signal.SIGKILL)
        result = run.result()
        self.assertEqual(result.code, 6, result.err)
        self.assertIn("rank 0 was killed by signal 9", result.err)
        self.assert_nothing_left(run)


class UserEndsIt(Ranks):
    """SIGINT and SIGTERM to the front program."""

    def end_by(self, number, code, word, fault):
        run, start = self.hang(fault), time.monotonic()
        run.process.send_signal(number)
        result = run.result()
        self.assertLess(time.monotonic() - start, SECONDS)
        self.assertEqual((result.code, result.out, result.err),
                         (code, "", harness.error_text(f"{word}; nothing was left behind")))
        self.assert_nothing_left(run)

    def test_interrupt(self):
        self.end_by(signal.SIGINT, 130, "interrupted", "1:data:STOP")

    def test_terminate(self):
        self.end_by(signal.SIGTERM, 143, "terminated", "0:commit:STOP")

    @worlds.slow
    def test_at_every_stage(self):
        for rank, stage in itertools.product(range(2), STAGES):
            with self.subTest(rank=rank, stage=stage):
                self.end_by(signal.SIGINT, 130, "interrupted", f"{rank}:{stage}:STOP")

    def test_while_all_ranks_work(self):
        dcp.big(self.folder / "large", 256).save()
        self.ground = self.listed()
        run = self.run_with(None, 2, "--exchange", "always", "--json", source="large")
        self.assertTrue(harness.wait_for(lambda: worlds.temporaries(self) or run.has_ended()))
        run.process.send_signal(signal.SIGTERM)
        result = run.result()
        self.assertEqual((result.code, result.err), (143, harness.error_text("terminated; nothing was left behind")))
        self.assertEqual(harness.valid_document(self, result.out, "consolidate")["error"]["kind"], "terminated")
        self.assert_nothing_left(run)


class FrontProgramIsKilled(Ranks):
    """Nobody is there to clean up but the ranks."""

    def kill_it(self, fault, size=2):
        run = self.hang(fault, size)
        if fault.split(":")[1] in ("data", "commit"):
            self.assertTrue(worlds.temporaries(self))
        run.process.kill()
        self.assertTrue(harness.wait_for(lambda: not run.ranks(), 5), run.ranks())
        self.assertEqual(run.result().code, -signal.SIGKILL)
        self.assert_nothing_left(run)

    def test_while_the_last_rank_is_stopped(self):
        self.kill_it("1:data:STOP")

    def test_while_the_first_rank_is_stopped(self):
        self.kill_it("0:commit:STOP")

    @worlds.slow
    def test_at_every_stage(self):
        for rank, stage in [*itertools.product(range(4), STAGES)] * 2:
            with self.subTest(rank=rank, stage=stage):
                self.kill_it(f"{rank}:{stage}:STOP", 4)

    def test_while_all_ranks_work(self):
        dcp.big(self.folder / "large", 256).save()
        self.ground = self.listed()
        run = self.run_with(None, 2, "--exchange", "always", source="large")
        self.assertTrue(harness.wait_for(lambda: worlds.temporaries(self) or run.has_ended()))
        run.process.kill()
        self.assertTrue(harness.wait_for(lambda: not run.ranks(), 5), run.ranks())
        self.assertEqual(run.result().code, -signal.SIGKILL)
        self.assert_nothing_left(run)


@worlds.slow
class KilledAtAnyTime(Ranks):
    """DST is absent or complete, whichever rank is killed and whenever."""

    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "large", 64).save()
        self.assert_ok(self.run_cli("consolidate", "large", "one.pt", "-q", "--no-fsync"))
        self.complete = (self.folder / "one.pt").read_bytes()
        self.ground = self.listed()

    def kill_one(self, number, pause):
        run = self.run_with(None, 2, "-q", "--exchange", "always", source="large")
        harness.wait_for(lambda: worlds.temporaries(self) or run.has_ended())
        time.sleep(pause)
        rank = run.ranks().get(number)
        if rank is not None:
            os.kill(rank.pid, signal.SIGKILL)
        result = run.result()
        self.assertIn(result.code, (0, 6), result.err)
        if result.code == 6:
            self.assertRegex(result.err, rf"\Afsdpckpt: error: rank {number} was killed by signal 9\b")
        out = self.folder / "out.pt"
        if result.code == 0 or out.exists():
            self.assertEqual(out.read_bytes(), self.complete)
            out.unlink()
        self.assert_nothing_left(run)
        return result.code

    def test_it(self):
        chance = random.Random(1)
        codes = [self.kill_one(i % 2, chance.random() * 0.4) for i in range(RANDOM_KILLS)]
        print(f"{RANDOM_KILLS} kills: {codes.count(6)} in time, {codes.count(0)} too late")
        self.assertIn(6, codes)


if __name__ == "__main__":
    harness.main()
