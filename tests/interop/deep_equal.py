"""Deep comparison of two loaded checkpoints: types, bits, key order, and which containers and storages are shared."""
import struct

import torch

KEPT_SHARED = (list, dict, set, bytearray)  # identity of these is visible to a program that changes them


def raw(tensor):
    """The row-major bytes of a tensor, whatever its dtype, as a uint8 tensor."""
    t = tensor.detach()
    t = t.resolve_conj().resolve_neg() if t.dtype.is_complex or t.is_neg() else t
    if t.numel() == 0:
        return torch.zeros(0, dtype=torch.uint8)
    flat = t.contiguous().reshape(-1)
    return flat.as_strided(flat.shape, (1,)).view(torch.uint8)  # one element may keep another stride


def storage_key(tensor):
    """Two tensors share memory when these are equal; None for tensors without memory."""
    storage = tensor.detach().untyped_storage()
    return storage.data_ptr() if storage.nbytes() else None


class Comparison:
    def __init__(self, order=True):
        self.order, self.found = order, []
        self.ids, self.storages = ({}, {}), ({}, {})

    def differ(self, where, text):
        if len(self.found) < 20:
            self.found.append(f"{where or 'top level'}: {text}")

    def one_to_one(self, maps, got, want, where, what):
        """Shared in one must be shared in the other: got and want keys pair up one to one."""
        if maps[0].setdefault(got, want) != want:
            self.differ(where, f"shares its {what} with another value")
        if maps[1].setdefault(want, got) != got:
            self.differ(where, f"no longer shares its {what}")

    def tensors(self, got, want, where):
        if got.dtype != want.dtype or got.shape != want.shape:
            return self.differ(where, f"{got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}")
        if got.requires_grad != want.requires_grad:
            self.differ(where, f"requires_grad is {got.requires_grad}")
        if not torch.equal(raw(got), raw(want)):
            self.differ(where, f"other bytes in {got.dtype}{list(got.shape)}")
        keys = storage_key(got), storage_key(want)
        if None not in keys:
            self.one_to_one(self.storages, *keys, where, "storage")

    def dicts(self, got, want, where):
        mine, theirs = [typed(k) for k in got], [typed(k) for k in want]
        if set(mine) != set(theirs):
            self.differ(where, f"unexpected keys {[k for k in mine if k not in theirs][:4]}, missing {[k for k in theirs if k not in mine][:4]}")
        elif self.order and mine != theirs:
            self.differ(where, f"order of keys: {list(got)[:6]}, want {list(want)[:6]}")
        for key in want:
            if key in got:
                self.values(got[key], want[key], f"{where}[{key!r}]")

    def sequences(self, got, want, where):
        if len(got) != len(want):
            return self.differ(where, f"length {len(got)}, want {len(want)}")
        for i, (a, b) in enumerate(zip(got, want)):
            self.values(a, b, f"{where}[{i}]")

    def values(self, got, want, where=""):
        if type(got) is not type(want):
            return self.differ(where, f"{type(got).__name__} {short(got)}, want {type(want).__name__} {short(want)}")
        if isinstance(want, KEPT_SHARED):
            seen = id(got) in self.ids[0]
            self.one_to_one(self.ids, id(got), id(want), where, "identity")
            if seen:
                return None
        if isinstance(want, torch.Tensor):
            self.tensors(got, want, where)
        elif isinstance(want, dict):
            self.dicts(got, want, where)
        elif isinstance(want, (list, tuple)):
            self.sequences(got, want, where)
        elif not same_scalar(got, want):
            self.differ(where, f"{short(got)}, want {short(want)}")


def short(value):
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."


def same_scalar(got, want):
    if isinstance(want, float):
        return struct.pack("<d", got) == struct.pack("<d", want)
    if isinstance(want, complex):
        return same_scalar(got.real, want.real) and same_scalar(got.imag, want.imag)
    if isinstance(want, (set, frozenset)):
        return sorted(map(typed, got)) == sorted(map(typed, want))
    if hasattr(want, "getvalue"):
        return got.getvalue() == want.getvalue()
    return bool(got == want)


def typed(value):
    return type(value).__name__, repr(value)


def differences(got, want, order=True):
    """Every way in which `got` is not `want`, as text; empty when they are the same."""
    comparison = Comparison(order)
    comparison.values(got, want)
    return comparison.found
