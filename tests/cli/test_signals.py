"""SIGINT, SIGTERM and a closed terminal: exit code 130 or 143, and nothing left behind."""
import os
import signal

import dcp
import harness

INTERRUPTED = harness.error_text("interrupted; nothing was left behind")
TERMINATED = harness.error_text("terminated; nothing was left behind")


class Signals(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 256).save()

    def ended_by(self, *signals, options=(), **popen):
        """Stops the run while it copies, so that the signals find it there."""
        process = self.start_slow("consolidate", "ck", "out.pt", *options, **popen)
        harness.stop_while_writing(self, process)
        for number in signals:
            process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=100)
        return process.returncode, out.decode(), err.decode()

    def test_interrupt(self):
        self.assertEqual(self.ended_by(signal.SIGINT), (130, "", INTERRUPTED))
        self.assertEqual(self.listed(), ["ck"])

    def test_terminate(self):
        self.assertEqual(self.ended_by(signal.SIGTERM), (143, "", TERMINATED))
        self.assertEqual(self.listed(), ["ck"])

    def test_terminal_closes(self):
        self.assertEqual(self.ended_by(signal.SIGHUP), (143, "", TERMINATED))
        self.assertEqual(self.listed(), ["ck"])

    def test_old_file_stays(self):
        (self.folder / "out.pt").write_text("mine")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.assertEqual(self.ended_by(number, options=["--force"])[0], code)
            self.assertEqual(self.listed(), ["ck", "out.pt"])
            self.assertEqual((self.folder / "out.pt").read_text(), "mine")

    def test_with_verify_and_without_sync(self):
        self.assertEqual(self.ended_by(signal.SIGINT, options=["--verify", "--no-fsync"])[0], 130)
        self.assertEqual(self.listed(), ["ck"])

    def test_json(self):
        code, out, err = self.ended_by(signal.SIGTERM, options=["--json"])
        self.assertEqual((code, err), (143, TERMINATED))
        error = harness.valid_document(self, out, "consolidate")["error"]
        self.assertEqual((error["kind"], error["exit_code"]), ("terminated", 143))

    def test_nohup_keeps_it_running(self):
        """A signal that was ignored at the start stays ignored."""
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        code, _, err = self.ended_by(signal.SIGHUP, preexec_fn=ignore)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.listed(), ["ck", "out.pt"])

    def test_killed_run_leaves_only_its_own_temporary_file(self):
        """Nobody can clean up after SIGKILL; the next run says so and works."""
        self.assertEqual(self.ended_by(signal.SIGKILL)[0], -signal.SIGKILL)
        (left,) = set(self.listed()) - {"ck"}
        self.assertRegex(left, r"\A\.out\.pt\.fsdpckpt-\d+-\d+\.tmp\Z")
        result = self.run_cli("consolidate", "ck", "out.pt", "--no-fsync")
        self.assert_ok(result, err=f"fsdpckpt: note: left by an interrupted run, or in use by another: '{left}'\n")
        os.remove(self.folder / left)
        self.assertEqual(self.listed(), ["ck", "out.pt"])


if __name__ == "__main__":
    harness.main()
