"""Writes python_pickles.inc: values of every kind as real Python pickles them at protocols 2 to 5, with their text.

The notation is that of tree_text.h. usage: make_pickles.py > python_pickles.inc
"""

import math
import pickle
import sys

VALUES = [
    ("none", None),
    ("booleans", [True, False]),
    ("small_integers", [0, 1, 255, 256, 65535, 65536, -1, -128, -129, 2**31 - 1, -(2**31)]),
    ("long_integers", [2**31, -(2**31) - 1, 2**32, 2**63 - 1, -(2**63), 2**55, -(2**47)]),
    ("big_integers", [2**63, -(2**63) - 1, 2**64, -(2**200), 2**2031 - 1]),
    ("reals", [0.0, -0.0, 1.5, -1e300, 5e-324, math.inf, -math.inf, math.nan]),
    ("texts", ["", "a", "caf\u00e9", "\U0001f600", "nul\0", "\ud800 lone", "x" * 300]),
    ("a_long_text", "\u00e9" * 5000),
    ("bytes", [b"a", b"\x00\xff\x80", bytes(range(256)) * 2]),
    ("long_bytes", b"\x01" * 70000),
    ("byte_arrays", [bytearray(b"abc"), bytearray(b"\xfe")]),
    ("tuples", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ((), ((),))]),
    ("lists", [[], [1], [[], [2, [3]]], list(range(1500))]),
    ("dicts", {"a": 1, 2: {}, (3, None): {"b": [4]}, 1.5: "c"}),
    ("a_large_dict", {index: str(index) for index in range(1200)}),
    ("sets", [set(), {7}, {"one"}]),
    ("frozen_sets", [frozenset(), frozenset({7})]),
]


def quoted(raw):
    return "'" + "".join(chr(b) if 0x20 <= b < 0x7F and b not in b"'\\" else f"\\x{b:02x}" for b in raw) + "'"


def number(value):
    if -(2**63) <= value < 2**63:
        return str(value)
    width = value.bit_length() // 8 + 1
    return "big " + value.to_bytes(width, "little", signed=True).hex()


def real(value):
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = value.hex()
    if value == 0:
        return text.replace("0x0.0p+0", "0x0p+0")
    mantissa, exponent = text.split("p")
    if value == 5e-324:  # denormal: C normalises the exponent differently
        return "0x0.0000000000001p-1022"
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + "p" + exponent


def items(values, protocol):
    return ", ".join(text(value, protocol) for value in values)


def bytes_text(value, protocol):
    if protocol >= 3:
        return "b" + quoted(value)
    if not value:
        return "call(<__builtin__.bytes>, ())"
    return f"call(<_codecs.encode>, ({quoted(value.decode('latin1').encode())}, 'latin1'))"


def byte_array_text(value, protocol):
    if protocol >= 5:
        return "bytearray(b" + quoted(value) + ")"
    module = "__builtin__" if protocol == 2 else "builtins"
    return f"call(<{module}.bytearray>, ({bytes_text(bytes(value), protocol)}))"


def set_text(name, value, protocol):
    if protocol >= 4:
        return f"{name}({items(value, protocol)})"
    module = "__builtin__" if protocol == 2 else "builtins"
    return f"call(<{module}.{name}>, ([{items(value, protocol)}]))"


def text(value, protocol):
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, str):
        return quoted(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return bytes_text(value, protocol)
    if isinstance(value, bytearray):
        return byte_array_text(value, protocol)
    if isinstance(value, (set, frozenset)):
        return set_text(type(value).__name__, value, protocol)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text(k, protocol)}: {text(v, protocol)}" for k, v in value.items()) + "}"
    return ("({})" if isinstance(value, tuple) else "[{}]").format(items(value, protocol))


def literal(raw):
    """C++ string literals: octal escapes end after three digits, so any character may follow."""
    lines = []
    for start in range(0, max(len(raw), 1), 96):
        part = raw[start : start + 96]
        plain = (chr(b) if 0x20 <= b < 0x7F and b not in b'"\\?' else f"\\{b:03o}" for b in part)
        lines.append('"' + "".join(plain) + '"')
    return "\n    ".join(lines)


def main():
    print(f"// Made by make_pickles.py with Python {sys.version.split()[0]}.")
    for name, value in VALUES:
        for protocol in range(2, 6):
            pickled = pickle.dumps(value, protocol)
            if len(pickled) > 8000:
                continue
            print(f'{{"{name}_{protocol}",\n    {literal(pickled)}s,\n    {literal(text(value, protocol).encode())}s}},')


main()
