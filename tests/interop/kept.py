"""Outputs kept for the readers of other torch versions: NAME.pt, and NAME.json with what must be in it.

The description also says the oldest torch whose weights_only unpickler accepts what the file holds; that is a
property of the data, never of how the file was written. Runs under Python 3.8 and torch 2.0.
"""
import hashlib
import json
import shutil
from collections import Counter

import torch

import deep_equal

OLDEST = {"float8_e4m3fn": (2, 2), "float8_e5m2": (2, 2), "complex32": (2, 3), "float8_e4m3fnuz": (2, 4), "float8_e5m2fnuz": (2, 4),
          "bits8": (2, 4), "bits16": (2, 4), "bits1x8": (2, 4), "bits2x4": (2, 4), "bits4x2": (2, 4), "uint16": (2, 6), "uint32": (2, 6),
          "uint64": (2, 6), "float8_e8m0fnu": (2, 7), "float4_e2m1fn_x2": (2, 8), "bcomplex32": (2, 15)}
BARE_DTYPES_OF_2_0 = ("complex32 complex64 complex128 float16 float32 float64 int8 int16 int32 int64").split()


def needs(value):
    """The oldest torch that takes this one value with weights_only=True."""
    if isinstance(value, torch.Tensor):
        return OLDEST.get(name(value.dtype), (2, 0))
    if isinstance(value, torch.dtype):
        return max(OLDEST.get(name(value), (2, 0)), (2, 0) if name(value) in BARE_DTYPES_OF_2_0 else (2, 4))
    if isinstance(value, (torch.device, Counter)):
        return (2, 4)
    if isinstance(value, (bytes, bytearray)):
        return (2, 5)
    if isinstance(value, (set, complex)):
        return (2, 6)
    return (2, 0)


def name(dtype):
    return str(dtype).replace("torch.", "")


def leaves(value, path=()):
    """(path, leaf) of everything below value; containers count as leaves too, for `needs`."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + (None,), key
            for pair in leaves(inner, path + (key,)):
                yield pair
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            for pair in leaves(inner, path + (i,)):
                yield pair


def digest(tensor):
    return hashlib.sha256(deep_equal.raw(tensor).numpy().tobytes()).hexdigest()


def describe(state):
    """What kept.json says: oldest torch, and every tensor that a path of text and numbers reaches."""
    tensors, oldest = [], (2, 0)
    for path, value in leaves(state):
        oldest = max(oldest, needs(value))
        if isinstance(value, torch.Tensor) and all(type(p) in (str, int) for p in path):
            tensors.append({"path": list(path), "dtype": name(value.dtype), "shape": list(value.shape), "sha256": digest(value)})
    return {"oldest_torch": list(oldest), "tensors": tensors}


def keep(folder, title, path):
    """Copy `path`, which has been compared already, and describe it as this torch loads it."""
    description = describe(torch.load(str(path), map_location="cpu", weights_only=True))
    shutil.copyfile(str(path), str(folder / (title + ".pt")))
    (folder / (title + ".json")).write_text(json.dumps(description, indent=1) + "\n")


def at(state, path):
    for step in path:
        state = state[step]
    return state


def compare(state, description):
    """What is missing or different in a loaded state, as text."""
    found = []
    for want in description["tensors"]:
        try:
            tensor = at(state, want["path"])
        except (KeyError, IndexError, TypeError) as e:
            found.append(f"{want['path']}: {type(e).__name__}")
            continue
        if name(tensor.dtype) != want["dtype"] or list(tensor.shape) != want["shape"]:
            found.append(f"{want['path']}: {tensor.dtype}{list(tensor.shape)}, want {want['dtype']}{want['shape']}")
        elif digest(tensor) != want["sha256"]:
            found.append(f"{want['path']}: other bytes")
    return found
