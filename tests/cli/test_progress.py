"""The progress line: on a terminal only, and gone at the end."""
import os
import pty
import re
import signal
import time

import dcp
import harness

LINE = r"[ \d]{3} %  [\d.]+ ([KM]i)?B of 256\.0 MiB, [\d.]+ ([KMG]i)?B/s(, \d+ (s|min) left)?"
ERASE = "\r\x1b[K"


class Progress(harness.CliTest):
    def setUp(self):
        super().setUp()
        dcp.big(self.folder / "ck", 256).save()

    def on_terminal(self, *options, **variables):
        """What a terminal on stderr gets; the run is held up long enough that a line is due."""
        ours, theirs = pty.openpty()
        process = self.start_slow("consolidate", "ck", "out.pt", "--no-fsync", *options, env=variables, stderr=theirs)
        os.close(theirs)
        harness.stop_while_writing(self, process)
        time.sleep(0.15)
        process.send_signal(signal.SIGCONT)
        shown = read_all(ours)  # until the program ends; unread, a terminal holds it up after 4 KiB
        out, _ = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.listed(), ["ck", "out.pt"])
        return shown, out.decode()

    def test_drawn_on_a_terminal_and_erased(self):
        shown, out = self.on_terminal()
        self.assertRegex(shown, rf"\A(\r\x1b\[K{LINE})+\r\x1b\[K\Z")
        self.assertRegex(out, r"\Aout\.pt: 8 tensors, 0 objects, 256\.0 MiB in ")

    def test_not_with_quiet_json_never_or_a_dumb_terminal(self):
        for options, variables in ((["-q"], {}), (["--json"], {}), (["--progress", "never"], {}), ([], {"TERM": "dumb"})):
            shown, _ = self.on_terminal(*options, **variables)
            self.assertEqual(shown, "", options)
            (self.folder / "out.pt").unlink()

    def test_not_in_a_pipe_unless_asked_for(self):
        for options, drawn in (([], False), (["--progress", "always"], True), (["-q", "--progress=always"], True)):
            process = self.start_slow("consolidate", "ck", "out.pt", "--no-fsync", *options)
            harness.stop_while_writing(self, process)
            time.sleep(0.15)
            process.send_signal(signal.SIGCONT)
            err = process.communicate(timeout=100)[1].decode()
            self.assertEqual(bool(re.fullmatch(rf"(\r\x1b\[K{LINE})+\r\x1b\[K", err)), drawn, err)
            self.assertEqual(err == "", not drawn)
            (self.folder / "out.pt").unlink()

    def test_erased_before_an_error(self):
        ours, theirs = pty.openpty()
        process = self.start_slow("consolidate", "ck", "out.pt", "--no-fsync", stderr=theirs)
        os.close(theirs)
        harness.stop_while_writing(self, process)
        time.sleep(0.15)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        shown = read_all(ours)
        process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(shown.rsplit(ERASE)[-1], harness.error_text("interrupted; nothing was left behind").replace("\n", "\r\n"))
        self.assertEqual(self.listed(), ["ck"])


def read_all(terminal):
    parts = []
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


if __name__ == "__main__":
    harness.main()
