#!/usr/bin/env python3
"""A checkpoint whose storages say cuda:3 loads on this machine without a GPU once it is consolidated.

Real torch writes the fixture; only the tag that torch.save asks for is another one, in tensor items, in objects and
in meta.pt. With --keep-device the tag is carried through.
"""
import harness

harness.enter_venv()
import torch  # noqa: E402

import archive_audit  # noqa: E402
import deep_equal  # noqa: E402

TAG = "cuda:3"


def state():
    weight = torch.arange(12.0).reshape(3, 4)
    return {"model": {"w": weight, "b": torch.ones(3, dtype=torch.bfloat16), "f8": torch.zeros(4, dtype=torch.uint8).view(torch.float8_e4m3fn)},
            "tuple": (torch.arange(3), "text", weight[1:].clone()), "step": 7}


def meta():
    return {"ema": {"w": torch.full((2, 2), 0.5)}, "rng": torch.arange(16, dtype=torch.uint8), "epoch": 3}


class TaggedStorages:
    """Inside, torch.save says of every storage that it lies on cuda:3."""

    def __enter__(self):
        self.real = torch.serialization.location_tag
        torch.serialization.location_tag = lambda storage: TAG

    def __exit__(self, *_):
        torch.serialization.location_tag = self.real


def write(folder):
    with TaggedStorages():
        harness.save_alone(state(), folder)
        torch.save(meta(), str(folder / "meta.pt"))


def load(path, weights_only=True, **how):
    try:
        return torch.load(str(path), weights_only=weights_only, **how), ""
    except Exception as e:
        return None, f"{type(e).__name__}: {str(e)[:200]}"


def locations(path):
    problems, archive = archive_audit.audit(path)
    return problems, {location for _, location, _ in archive.storages.values()} if archive else set()


def body(context):
    report = context.report
    if harness.torch_version() < (2, 3):
        return report.not_in_this_torch("dcp.save of float8 (2.3)")
    if torch.cuda.is_available():
        return report.skip("devices", "this machine has a GPU, so that its absence cannot be tested")
    src, out, kept = context.work / "tagged", context.work / "cpu.pt", context.work / "kept.pt"
    write(src)
    why = load(src / "meta.pt", weights_only=False)[1]
    report.check("torch itself cannot load the fixture here", "CUDA" in why, why)
    want = {**state(), **meta()}
    if context.converts("is consolidated", src, out):
        got, why = load(out)
        report.check("loads without map_location", got is not None, why)
        report.check("every value is equal", got is not None and not deep_equal.differences(got, want), str(got and deep_equal.differences(got, want)))
        problems, tags = locations(out)
        report.check("every storage says cpu", tags == {"cpu"} and not problems, f"{tags} {problems[:3]}")
        context.keep("tagged", out)
    if context.converts("--keep-device is consolidated", src, kept, "--keep-device"):
        problems, tags = locations(kept)
        report.check(f"--keep-device: every storage says {TAG}", tags == {TAG} and not problems, f"{tags} {problems[:3]}")
        got, why = load(kept, map_location="cpu")
        report.check("--keep-device: equal with map_location", got is not None and not deep_equal.differences(got, want), why)
        report.check("--keep-device: torch asks for the device", "CUDA" in load(kept, False)[1], load(kept, False)[1] or "it loaded")


if __name__ == "__main__":
    harness.main(__file__, __doc__, body)
