"""What the interop scripts share: arguments, the virtual environment, running fsdpckpt, one line a check.

A script starts with `harness.enter_venv()`, so that it can be called with any Python: it goes on
inside the environment given by --venv, the one whose torch the checks are about.
"""
import argparse
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent


def enter_venv():
    """Continue in the Python of --venv; what is set here holds for every child as well."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--venv")
    venv = parser.parse_known_args()[0].venv
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONWARNINGS"] = "ignore"
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    if venv and Path(sys.prefix).resolve() != Path(venv).resolve():
        python = os.path.join(os.path.abspath(venv), "bin", "python")
        os.execv(python, [python, *sys.argv])


def parser_for(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", help="virtual environment with torch (default: the running Python)")
    parser.add_argument("--fsdpckpt", metavar="BIN", help="the program under test")
    parser.add_argument("--fixtures", metavar="DIR", help="folder that holds fixtures/ and cases/")
    parser.add_argument("--keep", metavar="DIR", help="keep outputs here, for old_readers.py")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller inputs")
    return parser


class Report:
    """One line a check on stdout, and the count at the end."""

    def __init__(self, name):
        self.name, self.good, self.bad, self.skipped = name, 0, 0, 0

    def check(self, what, ok, detail=""):
        ok = bool(ok)
        self.good += ok
        self.bad += not ok
        print(f"{'ok  ' if ok else 'FAIL'} {self.name}: {what}" + (f": {detail}" if detail and not ok else ""), flush=True)
        return ok

    def skip(self, what, why):
        self.skipped += 1
        print(f"skip {self.name}: {what}: {why}", flush=True)

    def not_in_this_torch(self, what):
        self.skipped += 1
        print(f"skip {self.name}: not in this torch: {what}", flush=True)

    def finish(self):
        print(f"---- {self.name}: {self.good} ok, {self.bad} failed, {self.skipped} skipped", flush=True)
        return 1 if self.bad or not self.good + self.skipped else 0


class Tool:
    """The program under test."""

    def __init__(self, binary):
        self.binary = os.path.abspath(binary) if binary else None

    def run(self, *args, env=None, timeout=300):
        argv = [self.binary, *map(str, args)]
        environment = {**os.environ, **(env or {})}
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=timeout,
                              encoding="utf-8", errors="surrogateescape")

    def consolidate(self, src, dst, *options, **kw):
        return self.run("consolidate", src, dst, *options, **kw)


class Context:
    """Arguments, tool, report and a working folder that survives only a failure."""

    def __init__(self, name, args):
        self.args, self.report, self.tool = args, Report(name), Tool(args.fsdpckpt)
        self.work = Path(tempfile.mkdtemp(prefix=f"fsdpckpt-{name}-"))
        self.fixtures = Path(args.fixtures).resolve() if args.fixtures else None
        if args.keep:
            Path(args.keep).mkdir(parents=True, exist_ok=True)

    def converts(self, what, src, dst, *options):
        """Consolidate and check the exit code; true when there is an output to look at."""
        run = self.tool.consolidate(src, dst, *options)
        return self.report.check(what, run.returncode == 0 and Path(dst).is_file(), said(run))

    def refuses(self, what, src, dst, codes, *words):
        """The run must end with one of `codes`, name every word, and leave nothing beside the input."""
        before = set(os.listdir(str(Path(dst).parent)))
        run = self.tool.consolidate(src, dst)
        left = sorted(set(os.listdir(str(Path(dst).parent))) - before)
        missing = [w for w in words if w not in run.stderr]
        ok = run.returncode in codes and not left and not missing
        return self.report.check(what, ok, f"{said(run)}; left {left}; not named {missing}")

    def keep(self, name, path):
        """Keep an output that has been found right, for the readers of other torch versions."""
        if self.args.keep:
            import kept
            kept.keep(Path(self.args.keep), f"{self.report.name}-{name}", path)


def said(run):
    lines = run.stderr.strip().splitlines()
    return f"exit {run.returncode}: " + " / ".join(line.strip() for line in lines[-4:])[-500:]


def torch_version():
    """(2, 13) of the torch in use."""
    import torch
    return tuple(int(x) for x in torch.__version__.split("+")[0].split(".")[:2])


def save_alone(state, path):
    """A real save of one process without a process group, in every torch's own call."""
    import torch.distributed.checkpoint as dcp
    writer = dcp.FileSystemWriter(str(path), sync_files=False)
    if hasattr(dcp, "save"):
        dcp.save(state, storage_writer=writer)
    else:
        dcp.save_state_dict(state, writer, no_dist=True)


def peer_converter(src, dst, **kw):
    """torch's own converter, as its users call it."""
    argv = [sys.executable, "-m", "torch.distributed.checkpoint.format_utils", "dcp_to_torch", str(src), str(dst)]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", **kw)


def main(script, doc, body, add_arguments=None, needs_tool=True):
    """Parse, run `body(context)`, print the count, and leave the working folder only when something failed."""
    parser = parser_for(doc)
    if add_arguments:
        add_arguments(parser)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    if needs_tool and not args.fsdpckpt:
        parser.error("--fsdpckpt is required")
    context = Context(Path(script).stem, args)
    try:
        body(context)
    except Exception:
        context.report.bad += 1
        raise
    finally:
        code = context.report.finish()
        if code:
            print(f"     files kept in {context.work}", flush=True)
        else:
            shutil.rmtree(str(context.work), ignore_errors=True)
    sys.exit(code)
