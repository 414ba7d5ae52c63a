"""Runs the built program: each test has a folder of its own, and paths in texts are relative to it.

FSDPCKPT_BIN is the program, FSDPCKPT_TESTDATA the folder testdata/, FSDPCKPT_SOURCE the repository.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import jsonschema

BINARY = os.path.abspath(os.environ["FSDPCKPT_BIN"])
TESTDATA = pathlib.Path(os.environ["FSDPCKPT_TESTDATA"]).resolve()
SOURCE = pathlib.Path(os.environ["FSDPCKPT_SOURCE"]).resolve()
GROUND = ("PATH", "LANG", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR")


@dataclasses.dataclass
class Result:
    code: int
    out: str
    err: str


def text_of(data):
    return data.decode(errors="surrogateescape")


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fsdpckpt-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def environment(self, **variables):
        kept = {name: os.environ[name] for name in GROUND if name in os.environ}
        return {**kept, "TERM": "xterm", **variables}

    def start_slow(self, *arguments, **options):
        """As start(); one thread, and it steps back for a test that watches it."""
        return self.start(*arguments, "-j", "1", before=["nice", "-n", "5"], **options)

    def start(self, *arguments, env=None, before=(), **options):
        """The running program, its stdout and stderr in pipes unless said otherwise."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([*before, BINARY, *map(str, arguments)], cwd=self.folder,
                                env=self.environment(**(env or {})), **pipes)

    def run_cli(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=100)
        return Result(process.returncode, text_of(out or b""), text_of(err or b""))

    def listed(self, folder="."):
        """The names in a folder, hidden ones included."""
        return sorted(os.listdir(self.folder / folder))

    def copy(self, name, to="ck"):
        """A checkpoint of testdata/ under a short name; returns the name."""
        shutil.copytree(TESTDATA / name, self.folder / to)
        return to

    def assert_ok(self, result, out=None, err=""):
        self.assertEqual((result.code, result.err), (0, err))
        if out is not None:
            self.assertEqual(result.out, out)

    def assert_fails(self, arguments, code, error, out="", **options):
        """The exact text of an error, nothing on stdout, and not a file more or less than before."""
        before = self.listed()
        result = self.run_cli(*arguments, **options)
        self.assertEqual((result.code, result.out, result.err), (code, out, error_text(*error)))
        self.assertEqual(self.listed(), before)
        self.check_advice(result)
        return result

    def check_advice(self, result):
        """A command after `try:` helps: it is run as it stands, by a shell, and ends with 0."""
        for command in advised(result.err):
            run = subprocess.run(["bash", "-c", f'fsdpckpt() {{ "$FSDPCKPT_BIN" "$@"; }}; {command}'], cwd=self.folder,
                                 env=self.environment(FSDPCKPT_BIN=BINARY), capture_output=True, timeout=100)
            self.assertEqual(run.returncode, 0, f"{command}: {text_of(run.stderr)}")


def advised(err):
    """The commands of this program that a message advises; the bare name of a command only says how it is spelled."""
    lines = [line.removeprefix("  try: ") for line in err.splitlines() if line.startswith("  try: fsdpckpt ")]
    return [line for line in lines if len(line.split()) > 2 or line == "fsdpckpt help"]


def error_text(what, where="", hint=""):
    lines = [f"fsdpckpt: error: {what}", *([f"  in:  {where}"] if where else []), *([f"  try: {hint}"] if hint else [])]
    return "".join(line + "\n" for line in lines)


def valid_document(test, text, schema):
    """The one JSON document in `text`; it fits man/schema/NAME.schema.json."""
    test.assertTrue(text.endswith("}\n") and text.count("\n") == 1, text[-200:])
    document = json.loads(text)
    rules = json.loads((SOURCE / "man" / "schema" / f"{schema}.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(rules)
    jsonschema.Draft7Validator(rules).validate(document)
    test.assertEqual(document["schema"], f"fsdpckpt.{schema}/1")
    return document


def wait_for(condition, seconds=20.0):
    """Polls until `condition()` is true; False when it never was."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.001)
    return False


def stop_while_writing(test, process):
    """Stops a run as soon as its temporary file is there; the file has not got its name yet."""
    temporary = lambda: [name for name in test.listed() if name.endswith(".tmp")]
    test.assertTrue(wait_for(temporary), "no temporary file appeared")
    process.send_signal(signal.SIGSTOP)
    status = pathlib.Path(f"/proc/{process.pid}/stat")
    test.assertTrue(wait_for(lambda: status.read_text().rsplit(")", 1)[1].split()[0] == "T"), "not stopped")
    test.assertTrue(temporary(), "the run was over before it could be stopped")


def main():
    unittest.main(verbosity=1)
