"""Boxes that do or do not tile a tensor: rows X1 to X4."""
from .build import struct

TARGET = "plan"


def small(shape, boxes, tiles=3):
    """Numbers of a byte: how boxes are said is in plan.cc."""
    body = b"".join(bytes(sum(zip(*box), ())) if shape else b"\0" for box in boxes)
    return bytes([2 * (tiles - 1), len(shape), *shape]) + body


def wide(shape, boxes):
    numbers = [*shape, *(number for offsets, sizes in boxes for number in (*offsets, *sizes))]
    return bytes([1, len(shape)]) + b"".join(struct.pack("<Q", number << 1) for number in numbers)


LARGEST = (1 << 63) - 1
GRID = [((row, column), (2, 3)) for row in (0, 2) for column in (0, 3)]
PINWHEEL = [((0, 0), (1, 2)), ((0, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 0), (2, 1))]

ATTACKS = [
    ("X1-shape-overflows", 3, "2^126 elements", wide((LARGEST, LARGEST), [((0, 0), (LARGEST, LARGEST))])),
    ("X1-bytes-overflow", "accepted", "2^63 - 1 elements of one byte, in one box", wide((LARGEST,), [((0,), (LARGEST,))])),
    ("X1-two-halves-at-the-limit", "accepted", "the same in two boxes", wide((LARGEST,), [((0,), (1 << 62,)), ((1 << 62,), (LARGEST - (1 << 62),))])),
    ("X2-gap-at-the-limit", 3, "the last element of 2^63 - 1 is missing", wide((LARGEST,), [((0,), (LARGEST - 1,))])),
    ("X2-no-boxes", 3, "a tensor without boxes", small((3, 4), [])),
    ("X2-gap-rows", 3, "the last row is missing", small((3, 4), [((0, 0), (2, 4))])),
    ("X2-gap-columns", 3, "the last column is missing", small((3, 4), [((0, 0), (3, 3))])),
    ("X2-pinwheel", 3, "four boxes around a hole", small((3, 3), PINWHEEL)),
    ("X2-gap-3d", 3, "one corner of a cube is missing", small((2, 2, 2), [((0, 0, 0), (1, 2, 2)), ((1, 0, 0), (1, 1, 2)), ((1, 1, 0), (1, 1, 1))])),
    ("X2-no-dimensions", 3, "the only element is missing", small((), [])),
    ("X3-overlap-rows", 3, "a row twice", small((3, 4), [((0, 0), (2, 4)), ((1, 0), (2, 4))])),
    ("X3-overlap-columns", 3, "a column twice", small((3, 4), [((0, 0), (3, 2)), ((0, 1), (3, 3))])),
    ("X3-inside", 3, "a box inside a box", small((4, 4), [((0, 0), (4, 4)), ((1, 1), (2, 2))])),
    ("X3-equal-volume", 3, "an overlap as large as the gap", small((4,), [((0,), (2,)), ((1,), (2,))])),
    ("X3-overlap-at-the-limit", 3, "two boxes that share one element of 2^63 - 1", wide((LARGEST,), [((0,), (1 << 62,)), (((1 << 62) - 1,), (1 << 62,))])),
    ("X3-replicas", "accepted", "every box twice", small((4, 6), GRID + GRID)),
    ("X3-grid", "accepted", "a grid", small((4, 6), GRID)),
    ("X3-pinwheel-filled", "accepted", "four boxes around a fifth", small((3, 3), PINWHEEL + [((1, 1), (1, 1))])),
    ("X3-row-beside-columns", "accepted", "a row beside columns", small((3, 6), [((2, 0), (1, 6))] + [((0, i), (2, 1)) for i in range(6)])),
    ("X3-column-beside-rows", "accepted", "a column beside rows", small((6, 3), [((0, 2), (6, 1))] + [((i, 0), (1, 2)) for i in range(6)])),
    ("X3-cube", "accepted", "a cube of eight", small((2, 4, 4), [((a, 2 * b, 2 * c), (1, 2, 2)) for a in (0, 1) for b in (0, 1) for c in (0, 1)])),
    ("X3-four-dimensions", "accepted", "four dimensions, cut in the last", small((2, 2, 2, 4), [((0, 0, 0, i), (2, 2, 2, 1)) for i in range(4)])),
    ("X4-outside", 3, "a box that ends outside", small((4,), [((2,), (3,))])),
    ("X4-offset-wraps", 3, "a box whose end wraps around", wide((8,), [((LARGEST,), (8,))])),
    ("X4-size-wraps", 3, "a box whose size wraps around", wide((8,), [((8,), (LARGEST,))])),
    ("X4-empty-boxes", "accepted", "empty boxes everywhere", small((3,), [((0,), (3,)), ((0,), (0,)), ((3,), (0,))])),
    ("X4-empty-tensor", "accepted", "a tensor without elements", small((0, 3), [])),
    ("X4-empty-tensor-with-boxes", "accepted", "a tensor without elements, in boxes", small((3, 0), [((0, 0), (2, 0)), ((2, 0), (1, 0))])),
    ("X4-no-dimensions", "accepted", "a tensor without dimensions", small((), [((), ())])),
    ("X4-no-dimensions-twice", "accepted", "its element twice is a replica", small((), [((), ()), ((), ())])),
]
