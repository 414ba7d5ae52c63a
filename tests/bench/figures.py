"""From single measures to the tables of the README: minima, medians, and each goal beside what was measured."""
import statistics

OURS = "fsdpckpt"


class Figures:
    """Minimum and median of a field over the repetitions of one program in one group."""

    def __init__(self, measures):
        self.by = {}
        for m in measures:
            self.by.setdefault((m["set"], m["mode"], m["program"]), []).append(m)

    def low(self, name, mode, program, field):
        found = self.by.get((name, mode, program))
        return min(m[field] for m in found) if found else None

    def middle(self, name, mode, program, field):
        found = self.by.get((name, mode, program))
        return statistics.median(m[field] for m in found) if found else None

    def ratio(self, name, mode, program, other, field):
        a, b = self.low(name, mode, program, field), self.low(name, mode, other, field)
        return a / b if a is not None and b else None


def against_cp(name, mode, field):
    return lambda f: f.ratio(name, mode, OURS, "cp", field)


def seconds(name):
    return lambda f: f.low(name, "warm", OURS, "wall_s")


def peak_memory(f):
    peaks = [m["anon_bytes"] for (_, _, program), found in f.by.items() if program == OURS for m in found]
    return max(peaks) / 2**20 if peaks else None


# (what, limit, "most" or "least", unit, how it is read from the figures); ratios are of minima
GOALS = [
    ("2 GiB, 8 ranks, not synced: wall time, cp = 1", 0.8, "most", "", against_cp("adam-2g-8", "warm", "wall_s")),
    ("2 GiB, 8 ranks, not synced: CPU time, cp = 1", 1.3, "most", "", against_cp("adam-2g-8", "warm", "cpu_s")),
    ("2 GiB, 8 ranks, synced: wall time, cp and sync = 1", 1.0, "most", "", against_cp("adam-2g-8", "synced", "wall_s")),
    ("2 GiB, 8 ranks, cold cache: wall time, cp = 1", 1.0, "most", "", against_cp("adam-2g-8", "cold", "wall_s")),
    ("256 MiB, 8 ranks: CPU time of torch, ours = 1", 30, "least", "", lambda f: f.ratio("adam-256m-8", "warm", "torch", OURS, "cpu_s")),
    ("20,000 tensors of 4 kB, 2 ranks: wall time", 0.25, "most", "s", seconds("small-20k-2")),
    ("256 MiB, 64 ranks: wall time, cp = 1", 1.5, "most", "", against_cp("adam-256m-64", "warm", "wall_s")),
    ("anonymous memory, any of these", 64, "most", "MiB", peak_memory),
    ("fsdpckpt --version", 0.010, "most", "s", seconds("--version")),
    ("inspect, 264 tensors", 0.015, "most", "s", seconds("inspect, 264 tensors")),
    ("inspect, 20,000 tensors in 2 chunks each", 0.120, "most", "s", seconds("inspect, 20,000 tensors")),
]


def judge(measures):
    """Every goal with what was measured; `met` is None where nothing was."""
    figures, goals = Figures(measures), []
    for what, limit, sense, unit, read in GOALS:
        value = read(figures)
        met = None if value is None else value <= limit if sense == "most" else value >= limit
        goals.append({"goal": what, "limit": limit, "sense": sense, "unit": unit, "measured": value, "met": met})
    return goals


def number(value, unit):
    if value is None:
        return "not measured"
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:.1f} {unit}" if unit else f"{value:.2f}"


def goals_table(goals):
    lines = ["| what | goal | measured | |", "|---|---|---|---|"]
    for g in goals:
        limit = f"at {g['sense']} {number(g['limit'], g['unit'])}"
        verdict = {True: "met", False: "MISSED", None: ""}[g["met"]]
        lines.append(f"| {g['goal']} | {limit} | {number(g['measured'], g['unit'])} | {verdict} |")
    return "\n".join(lines)


def measures_table(measures):
    """One line a program and group: minima, medians, and the ratio of minima to cp."""
    f = Figures(measures)
    lines = ["| data | mode | program | runs | wall s, min / median | CPU s, min / median | memory MiB | wall, cp = 1 | CPU, cp = 1 |",
             "|---|---|---|---|---|---|---|---|---|"]
    for (name, mode, program), found in f.by.items():
        def pair(field):
            return f"{f.low(name, mode, program, field):.3f} / {f.middle(name, mode, program, field):.3f}"

        def ratio(field):
            value = f.ratio(name, mode, program, "cp", field)
            return "" if value is None else f"{value:.2f}"
        memory = max(m["anon_bytes"] for m in found) / 2**20
        lines.append(f"| {name} | {mode} | {program} | {len(found)} | {pair('wall_s')} | {pair('cpu_s')} | "
                     f"{memory:.1f} | {ratio('wall_s')} | {ratio('cpu_s')} |")
    return "\n".join(lines)
