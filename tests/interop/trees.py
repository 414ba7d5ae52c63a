"""Random nested state dicts, as descriptions: the same seed gives the same tree in every process.

Tensors are `TensorSpec`s here; realize.py turns them into what one rank holds, or into the whole tensor.
"""
import argparse
import datetime
import decimal
import io
import pathlib
import random
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field

CLASSIC = ("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex128 complex64").split()
NEWER = ("float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 uint16 uint32 uint64 "
         "complex32 bcomplex32").split()
SAFETENSORS_HAS = set("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool float8_e4m3fn float8_e5m2".split())
WORDS = ["weight", "bias", "layers.0.attn.q", "a.b", "a", "b", ".", "x..y", "", " ", "lr/step.v1", "_orig_mod.net.0.weight", "ключ",
         "模型", "\U0001f600", "new\nline", "quote'\"", "0", "1", "exp_avg", "state.w.exp_avg", "L" * 300, "\x1b[31m"]
ODD_KEYS = [0, 1, 7, -3, True, None, 1.5, (1, 2)]
FORMS = ["plain", "plain", "transposed", "narrowed", "strided", "expanded", "channels_last", "parameter", "conj", "neg"]
SHARDED_FORMS = ["dtensor", "dtensor", "dtensor", "fsdp", "boxes"]


@dataclass
class TensorSpec:
    dtype: str
    shape: tuple
    seed: int
    form: str = "plain"
    mesh: tuple = ()         # dtensor: shape of the mesh
    placements: tuple = ()   # dtensor: ("S", dim), ("R",), ("SS", dim, factor)
    stage: int = -1          # dtensor on the sub-mesh of this row of a 2 x 2 mesh; -1: on the whole world
    boxes: tuple = ()        # boxes: (rank, offsets, sizes)
    layout: str = "plain"    # strides of the local piece of a dtensor


@dataclass
class Shared:
    """A tuple of views into one storage: (base, base[1:], transposed base)."""
    base: TensorSpec


@dataclass
class OnRanks:
    """An entry that only some ranks have."""
    ranks: tuple
    value: object


@dataclass
class Case:
    seed: int
    world: int
    tree: dict
    meta: dict = None
    options: dict = field(default_factory=dict)
    wild: bool = False       # holds values that weights_only=True refuses


def numpy_values():
    try:
        import numpy
        return [numpy.float64(0.25), numpy.int32(-3)]
    except ImportError:
        return []


class Maker:
    def __init__(self, seed, features):
        self.rng, self.features, self.wild = random.Random(seed), features, False
        self.world = self.rng.choice([1, 2, 2, 3, 4, 4])
        self.options = self.choose_options()
        self.may_be_wild = self.rng.random() < 0.15
        if not self.may_be_wild and self.rng.random() < 0.5:  # only what torch 2.0 can load as well
            self.features = features = {**features, "dtypes": set(), "bytes": False, "set": False}
        self.dtypes = CLASSIC + [d for d in NEWER if d in features["dtypes"]]
        if self.options.get("safetensors"):
            self.dtypes = [d for d in self.dtypes if d in SAFETENSORS_HAS]

    # -- how it is saved
    def choose_options(self):
        pick, has = self.rng.random, self.features
        o = {"single_file": pick() < 0.8, "threads": self.rng.choice([1, 1, 3]), "lowest": pick() < 0.2}
        for name, share in (("nocoll", 0.12), ("zstd", 0.2), ("safetensors", 0.06), ("unflattened", 0.08), ("old_flattening", 0.1)):
            o[name] = has[name] and pick() < share
        if o["safetensors"]:
            o.update(zstd=False, nocoll=False)
        if o["unflattened"]:
            o.update(old_flattening=False)
        return o

    # -- keys and plain values
    def key(self):
        r = self.rng
        if r.random() < 0.1:
            return r.choice(ODD_KEYS)
        return r.choice(WORDS) + r.choice(["", "", "", f".{r.randrange(30)}", f"_{r.randrange(30)}"])

    def scalar(self):
        r = self.rng
        choices = [None, True, False, 0, 1, -1, 255, 256, 65536, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**63, -2**63, 2**70, -2**200,
                   r.randrange(10**9), 0.0, -0.0, 1e-8, float("inf"), float("nan"), r.random(), "", "adam", "naïve – ü", "\ud800 lone",
                   "0" * 300, "\0", r.choice(WORDS)]
        if self.features["bytes"]:
            choices += [b"", b"\x00\x01\xff", bytes(range(256)), bytearray(b"ba\xff"), b"x" * 70000]
        if self.features["set"]:
            choices += [{1, 2, 3}, set(), {"a", None}, 1 + 2j, complex("nan-infj")]
        return r.choice(choices)

    def torch_value(self):
        import torch
        values = [torch.Size([2, 3]), torch.float32, torch.strided]
        if self.features["set"]:
            values += [torch.bfloat16, torch.device("cpu"), torch.device("cuda:1"), Counter("abca")]
        return self.rng.choice(values)

    def wild_value(self):
        self.wild = True
        return self.rng.choice([
            datetime.datetime(2026, 11, 30, 1, 2, 3), datetime.timedelta(3), pathlib.PurePosixPath("/data/run"), frozenset({1, 2}), range(5),
            slice(1, None), decimal.Decimal("1.5"), deque([1, "x"]), io.BytesIO(b"raw"), defaultdict(int, {"n": 1}),
            argparse.Namespace(lr=0.1, name="r1"), *numpy_values()])

    def inner(self, depth):
        """A value inside an object entry, where nothing is flattened."""
        r = self.rng
        kind = r.random()
        if depth <= 0 or kind < 0.5:
            return self.scalar()
        if kind < 0.6:
            return self.torch_value()
        if kind < 0.68:
            return self.plain_tensor(("plain", "parameter"))
        if kind < 0.72:
            return Shared(TensorSpec(r.choice(["float32", "bfloat16", "int64"]), (4, 3), r.randrange(2**31)))
        items = [self.inner(depth - 1) for _ in range(r.randrange(4))]
        if kind < 0.8:
            return items
        if kind < 0.88:
            return tuple(items)
        kind_of_dict = r.choice([dict, OrderedDict])
        return kind_of_dict((self.key(), v) for v in items)

    def object_leaf(self):
        r = self.rng
        kind = r.random()
        if self.may_be_wild and r.random() < 0.3:
            return self.wild_value()
        if kind < 0.5:
            return self.scalar()
        if kind < 0.6:
            return self.torch_value()
        if kind < 0.72:
            return [self.scalar() for _ in range(r.randrange(4))]
        if kind < 0.78:
            shared = [1, "shared"]
            return (shared, shared, {"again": shared})
        return tuple(self.inner(3) for _ in range(r.randrange(5)))

    # -- tensors
    def shape(self):
        r = self.rng
        if r.random() < 0.004 and not self.options.get("safetensors"):
            return r.choice([(1031, 1500), (3_000_017,), (7, 300_001)])
        return tuple(r.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 33]) for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3, 4])))

    def plain_tensor(self, forms):
        r = self.rng
        spec = TensorSpec(r.choice(self.dtypes), self.shape(), r.randrange(2**31), r.choice(forms))
        if spec.form == "parameter" and not spec.dtype.startswith(("float64", "float32", "float16", "bfloat16")):
            spec.form = "plain"
        if spec.form in ("conj", "neg"):
            spec.dtype = r.choice(["complex64", "complex128"] if spec.form == "conj" else ["float32", "float64"])
        if spec.form in ("transposed", "strided", "narrowed", "expanded") and not spec.shape:
            spec.form = "plain"
        if spec.form == "channels_last":
            spec.shape = tuple(r.choice([1, 2, 3, 5]) for _ in range(4))
        return spec

    def sharded_tensor(self):
        r = self.rng
        spec = TensorSpec(r.choice(self.dtypes), self.shape(), r.randrange(2**31), r.choice(SHARDED_FORMS))
        whole_only = not spec.shape or 0 in spec.shape
        if not self.features["dtensor"]:
            spec.form = "plain" if whole_only else r.choice(["fsdp", "boxes"])
        elif whole_only or spec.form == "boxes" and self.options.get("safetensors"):
            spec.form = "dtensor"
        if spec.form == "boxes":
            spec.boxes = tuple(self.cut((0,) * len(spec.shape), spec.shape, r.randrange(1, 7)))
        if spec.form == "dtensor":
            self.place(spec)
        return spec

    def cut(self, offsets, sizes, pieces):
        """A random tiling of a box by axis-aligned boxes, each on a random rank."""
        dims = [d for d, s in enumerate(sizes) if s > 1]
        if pieces <= 1 or not dims:
            return [(self.rng.randrange(self.world), offsets, sizes)]
        d = self.rng.choice(dims)
        at, left = self.rng.randrange(1, sizes[d]), pieces // 2
        low = sizes[:d] + (at,) + sizes[d + 1:]
        high = sizes[:d] + (sizes[d] - at,) + sizes[d + 1:]
        start = offsets[:d] + (offsets[d] + at,) + offsets[d + 1:]
        return self.cut(offsets, low, left) + self.cut(start, high, pieces - left)

    def place(self, spec):
        r, n = self.rng, len(spec.shape)
        meshes = {1: [(1,)], 2: [(2,), (2,), (1, 2)], 3: [(3,), (3, 1)], 4: [(4,), (2, 2), (2, 2), (4, 1)]}[self.world]
        spec.mesh = r.choice(meshes)
        shard = [("S", d) for d in range(n)] + [("S", 0)] * (n > 0)
        spec.placements = tuple(r.choice(shard + [("R",)]) for _ in spec.mesh)
        if spec.mesh == (2, 2) and n and self.features["strided"] and r.random() < 0.25:
            spec.placements = (("SS", 0, 2), ("S", 0))
        if not self.options.get("safetensors"):
            spec.layout = r.choice(["plain", "plain", "transposed", "narrowed"])

    def tensor(self):
        if self.rng.random() < 0.65:
            return self.sharded_tensor()
        return self.plain_tensor(("plain",) if self.options.get("safetensors") else FORMS)

    # -- the tree
    def mapping(self, depth, width):
        kind = self.rng.choice([dict, dict, dict, OrderedDict])
        return kind((self.key(), self.node(depth - 1)) for _ in range(width))

    def node(self, depth):
        r, kind = self.rng, self.rng.random()
        if depth <= 0 or kind < 0.55:
            return self.tensor() if r.random() < 0.6 else self.object_leaf()
        if kind < 0.85:
            return self.mapping(depth, r.randrange(0, 5))
        return [self.node(depth - 1) for _ in range(r.randrange(4))]

    def optimizer(self):
        r = self.rng
        n, ints, stateless = r.randrange(1, 4), r.random() < 0.5, r.random() < 0.3
        names = list(range(n)) if ints else r.choice([[f"layers.{i}.weight" for i in range(n)], [str(i) for i in range(n)]])
        state = {} if stateless else {k: {"step": self.plain_tensor(("plain",)), "exp_avg": self.tensor()} for k in names}
        cut = r.randrange(n + 1)
        groups = [{"lr": 1e-3, "betas": (0.9, 0.95), "foreach": None, "params": p} for p in (names[:cut], names[cut:]) if p or r.random() < 0.3]
        return {"state": state, "param_groups": groups}

    def objects_only(self):
        """What a planner that does not flatten can store: tensors at the top, everything else as one object."""
        tree = {self.key_text(): self.tensor() for _ in range(self.rng.randrange(4))}
        for _ in range(self.rng.randrange(4)):
            tree[self.key_text()] = {self.key(): self.inner(3) for _ in range(self.rng.randrange(4))} if self.rng.random() < 0.5 else self.object_leaf()
        return tree

    def key_text(self):
        return str(self.key())

    def full_tree(self):
        r = self.rng
        tree = self.mapping(r.randrange(1, 5), r.choice([0, 1, 2, 3, 4, 6, 8]))
        for name in ("optimizer", "optim"):
            if r.random() < 0.25:
                tree[name] = self.optimizer() if r.random() < 0.7 else [self.optimizer(), self.optimizer()]
        for rank in range(self.world):
            if self.features["per_rank_keys"] and r.random() < 0.1:
                tree[f"rng.rank_{rank}"] = OnRanks((rank,), self.plain_tensor(("plain",)))
        if self.world == 4 and self.features["dtensor"] and self.features["per_rank_keys"] and r.random() < 0.3:
            for stage in (0, 1):
                spec = TensorSpec(r.choice(self.dtypes), (5, 3), r.randrange(2**31), "dtensor", (2,), (("S", 0),), stage)
                tree[f"stage{stage}.weight"] = OnRanks((2 * stage, 2 * stage + 1), spec)
        return tree

    def meta(self):
        if self.rng.random() > 0.3:
            return None
        meta = {f"meta {i}": self.inner(3) for i in range(self.rng.randrange(5))}
        return meta

    def case(self, seed):
        tree = self.objects_only() if self.options["unflattened"] else self.full_tree()
        meta = self.meta()
        return Case(seed, self.world, tree, meta, self.options, self.wild)


def specs(node):
    """Every TensorSpec of a tree."""
    if isinstance(node, TensorSpec):
        yield node
    elif isinstance(node, (Shared, OnRanks)):
        yield from specs(node.base if isinstance(node, Shared) else node.value)
    elif isinstance(node, (dict, list, tuple)):
        for value in node.values() if isinstance(node, dict) else node:
            yield from specs(value)


def make_case(seed, features):
    return Maker(seed, features).case(seed)
