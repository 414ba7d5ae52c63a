#!/usr/bin/env python3
"""Small inputs made from public reports of what goes wrong with sharded checkpoints end as their case.json says."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import harness

harness.enter_venv()
import torch  # noqa: E402

import deep_equal  # noqa: E402
import measure  # noqa: E402

PLAIN = ["03", "05", "07", "09", "26", "27"]
MEMORY_LIMIT = 64 << 20


class Case:
    def __init__(self, context, number):
        self.context, self.number = context, number
        self.folder = next((context.fixtures / "cases").glob(number + "-*"))
        self.data = json.loads((self.folder / "case.json").read_text())
        self.out = context.work / f"{number}.pt"

    def check(self, what, ok, detail=""):
        return self.context.report.check(f"{self.folder.name}: {what}", ok, detail)

    def consolidates(self, source="ckpt", *options, out=None):
        return self.context.converts(f"{self.folder.name}: {source} is consolidated", self.folder / source, out or self.out, *options)

    def refuses(self, source, code, names, *options):
        """Exit code, what the message names, and no file left."""
        before = sorted(os.listdir(self.context.work))
        run = self.context.tool.consolidate(self.folder / source, self.context.work / "refused.pt", *options)
        what = " ".join([source, *map(str, options)])
        self.check(f"{what} is refused with {code}", run.returncode == code, harness.said(run))
        missing = [name for name in names if not re.search(name, run.stderr)]
        self.check(f"{what}: the message names {', '.join(names)}", not missing, harness.said(run))
        self.check(f"{what}: no file is left", sorted(os.listdir(self.context.work)) == before, str(os.listdir(self.context.work)))

    def inspects(self, source, code, names):
        run = self.context.tool.run("inspect", self.folder / source)
        missing = [name for name in names if not re.search(name, run.stdout + run.stderr)]
        self.check(f"inspect {source} ends with {code}", run.returncode == code and not missing, f"{harness.said(run)}; not named: {missing}")

    def as_expected(self, out=None, path=None, key=None):
        """check_expected.py, which compares tensors, values and absent keys with case.json."""
        script = self.context.fixtures / "cases" / "check_expected.py"
        env = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
        run = subprocess.run([sys.executable, str(script), str(self.folder), str(out or self.out), *([key] if key else [])], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        return self.check("equals what case.json expects", run.returncode == 0, run.stdout.strip()[-400:])

    def as_tensors(self, out, tensors):
        sys.path.insert(0, str(self.context.fixtures / "cases"))
        import check_expected
        wrong = check_expected.check({"expect": {}}, torch.load(str(out), weights_only=True), tensors)
        return self.check(f"{out.name} has the tensors of case.json", not wrong, "; ".join(wrong))

    def keep(self):
        self.context.keep(self.folder.name, self.out)

    def make(self, target, *arguments):
        """Run the case's make.py to write a bigger twin to `target`."""
        run = subprocess.run([sys.executable, str(self.folder / "make.py"), *arguments, "--out", str(target)], cwd=str(self.context.work),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        return self.check(f"make.py {' '.join(arguments)}", run.returncode == 0 and target.exists(), run.stdout[-400:])


def safely(path):
    """The object under weights_only=True, or the reason why not."""
    try:
        return torch.load(str(path), weights_only=True), ""
    except Exception as e:
        return None, f"{type(e).__name__}: {str(e)[:300]}"


def plain(context, number):
    case = Case(context, number)
    if case.consolidates() and case.as_expected():
        state, why = safely(case.out)
        if case.check("loads with weights_only=True", state is not None, why):
            case.keep()
            return case, state
    return case, None


def stateless_optimizer(case, state):
    """Case 05 leaves it open whether lost empty dicts come back; an optimizer's state must, since nothing loads without it."""
    if state is not None:
        case.check("optimizer.state is {} again", state["optimizer"].get("state") == {}, str(state["optimizer"].get("state")))
        others = [state.get("callbacks", {}), state["nested"].get("empty", {})]
        case.check("nothing else was put into the empty dicts", others == [{}, {}], str(others))


def peak_memory(context):
    case, _ = plain(context, "01")
    if context.args.quick:
        return context.report.skip("01: the 512 MB twin", "--quick")
    big, out = context.work / "big", context.work / "big.pt"
    if not case.make(big, "--mb", "512"):
        return None
    code, wall, cpu, peak, error = measure.run([context.tool.binary, "consolidate", big, out])
    case.check(f"512 MB twin: peak anonymous memory {peak / 2**20:.1f} MiB, below 64 MiB", code == 0 and 0 < peak < MEMORY_LIMIT, error[-300:])
    state = torch.load(str(out), mmap=True, weights_only=True) if out.exists() else {"model": {}}
    rows = int(512 * 2**20 / 24 / 128)
    wrong = [i for i in range(24) if not right_twin(state["model"].get(f"layers.{i}.weight"), i, rows)]
    case.check(f"512 MB twin: all 24 tensors ({wall:.2f} s, CPU {cpu:.2f} s)", not wrong, f"wrong: {wrong}")
    return remove(big, out)


def right_twin(tensor, i, rows):
    return tensor is not None and torch.equal(tensor, torch.arange(rows * 32, dtype=torch.float32).reshape(rows, 32) * 0.5 + i)


def remove(*paths):
    subprocess.run(["rm", "-rf", *map(str, paths)])


def many_items(context):
    case, _ = plain(context, "26")
    if context.args.quick:
        return context.report.skip("26: the twin of 20,000 items", "--quick")
    big, out, peers = context.work / "many", context.work / "many.pt", context.work / "many-peer.pt"
    if not case.make(big, "--n", "20000"):
        return None
    code, wall, _, _, error = measure.run([context.tool.binary, "inspect", big])
    case.check(f"inspect of 20,000 items takes {wall:.3f} s, below 2 s", code == 0 and wall < 2, error[-300:])
    code, ours, _, _, error = measure.run([context.tool.binary, "consolidate", big, out])
    argv = [sys.executable, "-m", "torch.distributed.checkpoint.format_utils", "dcp_to_torch", big, peers]
    peer_code, peer, _, _, _ = measure.run(argv)
    case.check(f"consolidating them takes {ours:.2f} s, torch {peer:.2f} s", code == 0 and peer_code == 0 and ours < peer, error[-300:])
    if out.exists() and peers.exists():
        found = deep_equal.differences(torch.load(str(out), weights_only=True), torch.load(str(peers), weights_only=True), order=False)
        case.check("the 20,000 items equal torch's output", not found, "; ".join(found[:4]))
    return remove(big, out, peers)


USER_OBJECTS = """
import sys, argparse, datetime, torch
from pathlib import Path
import numpy, usercfg
state = torch.load(sys.argv[1], weights_only=False)
want = {"epoch": 4, "global_step": 120, "hyper_parameters": argparse.Namespace(lr=.1, name="r1"), "cfg": usercfg.TrainConfig(.3, ["a"]),
        "root": Path("/data/run"), "when": datetime.datetime(2026, 11, 30, 1, 2, 3), "best": numpy.float64(.25)}
bad = [k for k, v in want.items() if k not in state or type(state[k]) is not type(v) or state[k] != v]
bad += [] if torch.equal(state.get("ema_decay", torch.zeros(1)), torch.tensor([.9, .99])) else ["ema_decay"]
bad += [k for k in state if k not in want and k not in ("ema_decay", "model")]
print("wrong: ", bad); sys.exit(bool(bad))
"""


def user_objects(context):
    """A meta.pt with classes that cannot be imported here: carried over, never imported, and left out on request."""
    case = Case(context, "11")
    trap = context.work / "trap"
    trap.mkdir()
    (trap / "usercfg.py").write_text(f"open({str(context.work / 'imported')!r}, 'w').close()\nraise ImportError('a trap')\n")
    run = context.tool.consolidate(case.folder / "ckpt", case.out, env={"PYTHONPATH": str(trap)})
    case.check("is consolidated without the class", run.returncode == 0 and case.out.is_file(), harness.said(run))
    case.check("says that weights_only=True will refuse it, and why", "usercfg" in run.stderr and "weights_only" in run.stderr, run.stderr[-300:])
    case.check("usercfg was not imported", not (context.work / "imported").exists())
    support = case.folder / "support"
    look = subprocess.run([sys.executable, "-c", USER_OBJECTS, str(case.out)], env={**os.environ, "PYTHONPATH": str(support)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    case.check("all eight entries of meta.pt are there and equal", look.returncode == 0, look.stdout[-400:])
    case.as_expected(path=support)
    weights = context.work / "11-weights.pt"
    if case.consolidates("ckpt", "--objects", "drop", out=weights):
        state, why = safely(weights)
        case.check("--objects drop: loads with weights_only=True", state is not None, why)
        case.as_expected(out=weights)


def does_not_cover(context):
    case = Case(context, "23")
    says = {"gap": r"\[4:8|rows? 4|16 elements|missing|no chunk", "overlap": r"overlap|twice|\[2:6|more than one",
            "outside": r"outside|beyond|\[6:10|exceeds"}
    for source in case.data["input"]:
        out = context.work / f"23-{source}.pt"
        run = context.tool.consolidate(case.folder / source, out)
        left = [p.name for p in context.work.iterdir() if "23-" in p.name or p.name.endswith(".tmp")]
        case.check(f"{source} is refused and leaves no file", run.returncode == 3 and not left, f"{harness.said(run)}; left {left}")
        case.check(f"{source}: the message names model.w", "model.w" in run.stderr, harness.said(run))
        case.check(f"{source}: the message says which part", re.search(says[source], run.stderr) and re.search(r"\d", run.stderr), harness.said(run))


def prefixes(context):
    case = Case(context, "24")
    if case.consolidates("plain"):
        case.as_expected()
        case.keep()
    stripped = context.work / "24-stripped.pt"
    if case.consolidates("plain", "--clean", out=stripped):
        case.as_expected(out=stripped, key="stripped")
    case.refuses("clash", 3, [r"'model\.net\.0\.weight'", r"'model\._orig_mod\.net\.0\.weight'"], "--clean")


def optimizer_follows(context):
    """A wrapped model with its optimizer, cleaned, loads into a plain model: torch finds the states by name."""
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict
    part, source, out = "_orig_mod._fsdp_wrapped_module.", context.work / "wrapped", context.work / "wrapped.pt"
    made = [torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)) for _ in range(2)]
    optimizers = [torch.optim.AdamW(model.parameters(), lr=.1 * (i + 1)) for i, model in enumerate(made)]
    made[0](torch.ones(2, 3)).sum().backward()
    optimizers[0].step()
    state = get_optimizer_state_dict(made[0], optimizers[0])
    state["state"] = {part + name: value for name, value in state["state"].items()}
    for group in state["param_groups"]:
        group["params"] = [part + name for name in group["params"]]
    harness.save_alone({"model": {part + name: value for name, value in made[0].state_dict().items()}, "optimizer": state}, source)
    if not context.converts("24: a wrapped model with its optimizer is consolidated", source, out, "--clean"):
        return
    loaded = torch.load(str(out), weights_only=True)
    made[1].load_state_dict(loaded["model"])
    set_optimizer_state_dict(made[1], optimizers[1], loaded["optimizer"])
    found = deep_equal.differences(optimizers[1].state_dict(), optimizers[0].state_dict(), order=False)
    context.report.check("24: the plain model's optimizer has the states of the wrapped one", not found, "; ".join(found[:4]))


def evil_pickles(context):
    case = Case(context, "13")
    for source, named, file in (("evil_metadata", r"posix\.mkdir", r"\.metadata"), ("evil_meta_pt", r"posix\.mkdir", r"meta\.pt"),
                                ("evil_item", r"posix\.mkdir", r"__0_0\.distcp"), ("evil_getattr", r"builtins\.getattr", r"\.metadata")):
        case.refuses(source, 5, [named, file])
        in_metadata = file == r"\.metadata"
        case.inspects(source, 5 if in_metadata else 0, [named])
    ran = [path for path in (context.work / "CANARY", case.folder / "CANARY", Path.cwd() / "CANARY") if path.exists()]
    case.check("nothing was run", not ran, str(ran))


def truncated_shards(context):
    case = Case(context, "15")
    affected = "|".join(map(re.escape, case.data["affected_tensors"]))
    for source in case.data["input"]:
        length = (case.folder / source / "__1_0.distcp").stat().st_size
        case.refuses(source, 3, [r"__1_0\.distcp", rf"\b{length}\b", affected if source == "cut" else r"model\.l\d"])


def incomplete_saves(context):
    case = Case(context, "17")
    for source in case.data["input"]:
        names = [r"\.metadata", "unfinished", *([r"\.metadata\.tmp"] if source == "tmp_left" else [])]
        case.refuses(source, 3, names)
        case.inspects(source, 3, names)


def parent_folder(context):
    case = Case(context, "21")
    case.refuses("checkpoint-2000", 3, ["pytorch_model_fsdp_0", "optimizer_0"])
    case.refuses("empty", 3, [r"\.metadata"])
    case.refuses("no-such-folder", 3, ["no such file"])
    if case.consolidates("checkpoint-2000/pytorch_model_fsdp_0"):
        case.as_expected()


def node_local_shards(context):
    case = Case(context, "22")
    case.refuses("node_a", 3, [r"__1_0\.distcp"])
    case.refuses("node_b", 3, [r"no \.metadata", "rank files"])
    for first, second in (("node_a", "node_b"), ("node_b", "node_a")):
        out = context.work / f"22-{first}.pt"
        if case.consolidates(first, "--files-in", case.folder / second, out=out):
            case.as_tensors(out, case.data["expect"]["with_both"]["tensors"])


def look_alikes(context):
    case = Case(context, "25")
    case.refuses("actor", 3, ["ranks saved for themselves", r"\.metadata"])
    case.refuses("hf", 3, ["safetensors", r"\.metadata"])
    case.inspects("actor/model_world_size_2_rank_0.pt", 0, [r"l\.weight +float32 +\[2, 3\]", r"scale +float32 +\[1\]"])


def body(context):
    if not context.fixtures:
        return context.report.skip("cases", "no --fixtures DIR")
    if harness.torch_version() < (2, 9):
        return context.report.not_in_this_torch("what the cases' own scripts use (2.9)")
    for number in PLAIN:
        if number == "26":
            many_items(context)
            continue
        case, state = plain(context, number)
        if number == "05":
            stateless_optimizer(case, state)
    peak_memory(context)
    user_objects(context)
    does_not_cover(context)
    prefixes(context)
    optimizer_follows(context)
    evil_pickles(context)
    truncated_shards(context)
    incomplete_saves(context)
    parent_folder(context)
    node_local_shards(context)
    look_alikes(context)


if __name__ == "__main__":
    harness.main(__file__, __doc__, body)
