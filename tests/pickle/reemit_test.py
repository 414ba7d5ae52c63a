"""Python's own unpickler reads what TreeWriter wrote: equal values, equal types, the same sharing.

Pickles odd and random objects at protocols 2 to 5, lets PICKLE_REEMIT write them again as protocol 2, and compares.
usage: reemit_test.py PICKLE_REEMIT
"""

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import os
import pathlib
import pickle
import pickletools
import random
import re
import subprocess
import sys
import tempfile
import types
import unittest
import uuid

TOOL = os.path.abspath(sys.argv[1])

Pair = collections.namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1
    GREEN = "green"


class Flags(enum.IntFlag):
    ONE = 1
    TWO = 2


class Plain:
    pass


class FoldedPoint:
    """Folded by the tool at BUILD."""


class Outer:
    class Inner:
        class Innermost:
            pass


class Slots:
    __slots__ = ("first", "second")


class MoreSlots(Slots):
    pass


class ListWithName(list):
    pass


class DictWithName(dict):
    pass


class Text(str):
    pass


class Number(int):
    pass


class Reduced:
    """All five parts of a reduce value."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.items = []
        self.pairs = {}

    def append(self, item):
        self.items.append(item)

    def extend(self, items):
        self.items.extend(items)

    def __setitem__(self, key, value):
        self.pairs[key] = value

    def __reduce_ex__(self, protocol):
        state = {name: value for name, value in vars(self).items() if name == "extra"}
        return Reduced, self.arguments, state or None, iter(self.items), iter(self.pairs.items())


class FoldedCall:
    """Folded by the tool at REDUCE."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return FoldedCall, self.arguments


class Keywords:
    """Needs keyword arguments: NEWOBJ_EX from protocol 4 on."""

    def __new__(cls, first, *, second):
        self = object.__new__(cls)
        self.first, self.second = first, second
        return self

    def __getnewargs_ex__(self):
        return (self.first,), {"second": self.second}


class State:
    def __init__(self, value):
        self.value = value

    def __getstate__(self):
        return [self.value]

    def __setstate__(self, state):
        (self.value,) = state


@dataclasses.dataclass
class Data:
    name: str
    parts: list


def with_attributes(value, **attributes):
    for name, attribute in attributes.items():
        setattr(value, name, attribute)
    return value


def odd_objects():
    shared = ["shared"]
    text = "a text that is longer than the sixty-four bytes which all equal texts share"
    reduced = with_attributes(Reduced(1, [2]), extra=shared)
    reduced.items, reduced.pairs = [3, shared], {"four": shared}
    yield from (None, True, False, 0, -1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1)
    yield from (2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**2039 - 1, -(2**2039), 10**100)
    yield from (0.0, -0.0, 1e308, 5e-324, math.inf, -math.inf, math.nan, 1 + 2j, complex("nan"))
    yield from ("", "\0", "caf\u00e9", "\U0001f600", "\ud800", text, b"", b"\x00\xff", bytes(range(256)) * 5)
    yield from (bytearray(), bytearray(b"\x80abc"), set(), {1, "two"}, frozenset(), frozenset([1, (2,)]))
    yield from ((), (1,), [[]], {}, {None: 1, 1.5: 2, (1, 2): 3, b"key": 4, frozenset([5]): 5})
    yield [shared, shared, {"again": shared}, (shared,), [text, text]]
    same_bytes, same_array, same_set = b"\xfe\xff", bytearray(b"x"), {9}
    yield [same_bytes, same_bytes, same_array, same_array, same_set, same_set, Pair(same_set, same_array)]
    yield from (range(1, 10, 3), slice(1, None, 2) if sys.version_info >= (3, 14) else range(0), ..., NotImplemented)
    yield from (type(None), int, dict, collections.OrderedDict, len, math.sqrt, os.path.join, Outer.Inner, Color.RED)
    yield from (Outer.Inner(), with_attributes(Outer.Inner.Innermost(), x=Outer.Inner, y=Outer.Inner), Flags.TWO)
    yield from (Flags.ONE | Flags.TWO, {Color.GREEN: Color}, Pair(1, shared), [Pair(1, 2)] * 3)
    yield from (datetime.datetime(2024, 2, 29, 1, 2, 3, 4), datetime.date(1, 1, 1), datetime.timedelta(-1, 2, 3))
    yield datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5), "five"))
    yield from (datetime.time(23, 59, fold=1), decimal.Decimal("1.50"), decimal.Decimal("-Infinity"))
    yield from (fractions.Fraction(-3, 7), uuid.UUID(int=5), pathlib.PurePosixPath("/a/b"), pathlib.Path("c"))
    yield collections.OrderedDict([("b", 1), ("a", shared)])
    yield with_attributes(collections.OrderedDict(a=1), _metadata=collections.OrderedDict(version=1))
    yield from (collections.defaultdict(list, a=[1]), collections.deque([1, shared], maxlen=5), collections.Counter("aab"))
    yield from (collections.ChainMap({1: 2}, {3: 4}), argparse.Namespace(lr=0.1, betas=(0.9, 0.95), nested=shared))
    yield from (types.SimpleNamespace(a=1), ValueError("no", 1), re.compile("a+", re.I), random.Random(5).getstate())
    yield from (functools.partial(int, base=2), functools.partial(functools.partial(max, 1), 2))
    yield from (with_attributes(Plain(), a=shared, b=shared), with_attributes(Slots(), first=1), Plain())
    yield from (with_attributes(MoreSlots(), second=[1], third=3), ListWithName([1, shared]), DictWithName({1: shared}))
    yield from (with_attributes(ListWithName([1]), name="n"), with_attributes(DictWithName(a=1), name=shared))
    yield from (Text("subclass"), Number(2**70), with_attributes(Text("t"), note=1), reduced, State(shared), State(None))
    yield from (Keywords(1, second=shared), [Keywords("a", second="b")] * 2, Data("n", [1, shared]))
    yield list(range(3000)) + [shared] * 3
    yield {f"key{i}": (i, shared) for i in range(2500)}
    yield functools.reduce(lambda inner, _: [inner], range(300), shared)


class Maker:
    """Random trees in which parts are used again."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.made = []

    def make(self, depth):
        if self.made and self.random.random() < 0.15:
            return self.random.choice(self.made)
        value = self.leaf() if depth == 0 or self.random.random() < 0.2 else self.container(depth - 1)
        self.made.append(value)
        return value

    def leaf(self):
        rnd = self.random
        return rnd.choice(
            [
                lambda: rnd.randrange(-(2 ** rnd.randrange(1, 90)), 2 ** rnd.randrange(1, 90)),
                lambda: rnd.choice([None, True, False, 1.5, -0.0]),
                lambda: self.word(),
                lambda: rnd.randbytes(rnd.randrange(20)),
                lambda: bytearray(rnd.randbytes(3)),
                lambda: fractions.Fraction(rnd.randrange(99), 7),
                lambda: datetime.date(2000 + rnd.randrange(30), 1, 1),
                lambda: decimal.Decimal(rnd.randrange(1000)),
                lambda: rnd.choice([Color.RED, Outer.Inner, Plain, pathlib.PurePosixPath("a/b")]),
            ]
        )()

    def word(self):
        return self.random.choice(["", "a", "take", "take1", "weight", "\u00e9", "layers.0.weight", "x" * 100])

    def container(self, depth):
        parts = [self.make(depth) for _ in range(self.random.randrange(5))]
        names = {self.word(): part for part in parts}
        return self.random.choice(
            [
                lambda: list(parts),
                lambda: tuple(parts),
                lambda: names,
                lambda: dict(enumerate(parts)),
                lambda: {self.random.randrange(100) for _ in parts},
                lambda: frozenset(self.word() for _ in parts),
                lambda: collections.OrderedDict(names),
                lambda: collections.deque(parts),
                lambda: collections.defaultdict(list, names),
                lambda: with_attributes(FoldedPoint(), x=parts, **{"y": names}),
                lambda: with_attributes(FoldedPoint(), x=tuple(parts)),
                lambda: with_attributes(Plain(), **{f"a{i}": part for i, part in enumerate(parts)}),
                lambda: FoldedCall(*parts),
                lambda: FoldedCall(parts),
                lambda: self.reduced(parts, names),
                lambda: ListWithName(parts),
                lambda: with_attributes(DictWithName(names), name=parts),
                lambda: State(parts),
                lambda: Keywords(tuple(parts), second=names),
                lambda: argparse.Namespace(value=parts),
                lambda: Pair(parts, names),
            ]
        )()

    def reduced(self, parts, names):
        value = Reduced(*parts[:2])
        value.items, value.pairs = parts[2:], names
        return value


BY_REPR = (type(None), bool, int, float, complex, str, bytes, type, enum.EnumMeta)
BY_NAME = (types.BuiltinFunctionType, types.FunctionType)
SINGLE = (enum.Enum, types.EllipsisType, types.NotImplementedType)


class Comparison:
    """Walks two values side by side and pairs up the identities of what can change."""

    def __init__(self):
        self.partner = {}
        self.kept = []  # so that no identity is used twice

    def same(self, left, right):
        if type(left) is not type(right):
            return False
        if type(left) in BY_REPR:
            return repr(left) == repr(right)
        if isinstance(left, SINGLE + BY_NAME):
            return left is right
        if isinstance(left, (tuple, frozenset)):
            return self.parts_are_same(left, right)
        if id(left) in self.partner or id(right) in self.partner:
            return self.partner.get(id(left)) == id(right)
        self.partner[id(left)], self.partner[id(right)] = id(right), id(left)
        self.kept += [left, right]
        return self.parts_are_same(left, right)

    def parts_are_same(self, left, right):
        lefts, rights = self.parts(left), self.parts(right)
        return len(lefts) == len(rights) and all(map(self.same, lefts, rights))

    def parts(self, value):
        parts = [repr(value)] if is_plain(value) else []
        if isinstance(value, functools.partial):
            parts += [value.func, value.args, value.keywords]
        if isinstance(value, Reduced):
            return parts + [value.arguments, value.items, value.pairs, getattr(value, "extra", None)]
        if isinstance(value, FoldedCall):
            return [*value.arguments]
        if isinstance(value, dict):
            parts += [part for pair in value.items() for part in pair]
        elif isinstance(value, (set, frozenset)):
            parts += sorted(value, key=repr)
        elif isinstance(value, (list, tuple, collections.deque)):
            parts += list(value)
        if isinstance(value, collections.defaultdict):
            parts.append(value.default_factory)
        if isinstance(value, BaseException):
            parts += value.args
        for name in attribute_names(value):
            parts += [name, getattr(value, name)]
        return parts


def is_plain(value):
    """True of values whose repr says everything."""
    kinds = (int, str, bytearray, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal)
    return isinstance(value, kinds + (fractions.Fraction, uuid.UUID, pathlib.PurePath, range, re.Pattern))


def attribute_names(value):
    if is_plain(value) and not isinstance(value, (Text, Number)):
        return []
    names = Slots.__slots__ if isinstance(value, Slots) else ()
    return sorted(getattr(value, "__dict__", {})) + [name for name in names if hasattr(value, name)]


def reemit(pickles):
    """The values in the pickles, after the tool has written them again; and what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "wb") as file:
            file.writelines(pickles)
        done = subprocess.run([TOOL, source, result], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr.strip())
        with open(result, "rb") as file:
            written = file.read()
            file.seek(0)
            return [pickle.load(file) for _ in pickles], written


class ReemitTest(unittest.TestCase):
    def compare(self, values, protocol):
        pickles = [pickle.dumps(value, protocol) for value in values]
        expected = [pickle.loads(pickled) for pickled in pickles]
        results, _ = reemit(pickles)
        for value, result in zip(expected, results):
            self.assertTrue(Comparison().same(value, result), f"{value!r:.300} became {result!r:.300}")

    def test_odd_objects(self):
        for protocol in range(2, 6):
            with self.subTest(protocol=protocol):
                self.compare(list(odd_objects()), protocol)

    def test_optimised_pickles(self):
        values = list(odd_objects())
        for protocol in range(2, 6):
            results, _ = reemit([pickletools.optimize(pickle.dumps(value, protocol)) for value in values])
            for value, result in zip(values, results):
                expected = pickle.loads(pickle.dumps(value, protocol))
                self.assertTrue(Comparison().same(expected, result), f"{value!r:.300} became {result!r:.300}")

    def test_pickler_written_in_python(self):
        values = list(odd_objects())
        for protocol in range(2, 6):
            results, _ = reemit([pickle._dumps(value, protocol) for value in values])
            for value, result in zip(values, results):
                expected = pickle.loads(pickle.dumps(value, protocol))
                self.assertTrue(Comparison().same(expected, result), f"{value!r:.300} became {result!r:.300}")

    def test_random_trees(self):
        for protocol in range(2, 6):
            with self.subTest(protocol=protocol):
                self.compare([Maker(seed).make(6) for seed in range(2000)], protocol)

    def test_only_opcodes_of_the_weights_only_loader(self):
        allowed = set(
            "PROTO STOP GLOBAL NEWOBJ REDUCE BUILD APPEND APPENDS SETITEM SETITEMS MARK TUPLE TUPLE1 TUPLE2 TUPLE3 NONE"
            " NEWFALSE NEWTRUE EMPTY_TUPLE EMPTY_LIST EMPTY_DICT BININT BININT1 BININT2 BINFLOAT BINUNICODE BINPERSID"
            " BINGET LONG_BINGET BINPUT LONG_BINPUT LONG1".split()
        )
        for value in odd_objects():
            _, written = reemit([pickle.dumps(value, 5)])
            self.assertLessEqual({opcode.name for opcode, _, _ in pickletools.genops(written)}, allowed)

    def test_recursive_tuples_are_refused_as_cycles(self):
        inner = []
        inner.append((inner,))
        with self.assertRaisesRegex(AssertionError, "cycle"):
            reemit([pickle.dumps(inner)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
