"""Wall and CPU seconds and peak anonymous memory of one child process."""
import os
import subprocess
import tempfile
import threading
import time


class AnonWatch(threading.Thread):
    """Peak over time of RssAnon, which counts memory proper and leaves the page cache out."""

    def __init__(self, pid, every=0.005):
        super().__init__(daemon=True)
        self.status, self.every, self.peak, self.done = f"/proc/{pid}/status", every, 0, False

    def run(self):
        while not self.done:
            try:
                with open(self.status) as f:
                    for line in f:
                        if line.startswith("RssAnon:"):
                            self.peak = max(self.peak, int(line.split()[1]) << 10)
                            break
            except OSError:
                return
            time.sleep(self.every)


def run(argv, timeout=600, watched=True):
    """(exit code, wall seconds, CPU seconds, peak anonymous bytes, stderr text); not watched: memory is said to be 0."""
    with tempfile.TemporaryFile() as error:
        started = time.monotonic()
        process = subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL, stderr=error)
        kill = threading.Timer(timeout, process.kill)
        watch = AnonWatch(process.pid)
        if watched:
            watch.start()
            kill.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        kill.cancel()
        watch.done = True
        process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        error.seek(0)
        text = error.read().decode("utf-8", "replace")
    return process.returncode, wall, usage.ru_utime + usage.ru_stime, watch.peak, text
