"""Attacks on compressed items: rows X5, X12, Z2, Z7, Z11. The first bytes say what the metadata expects: dtype, number of
dimensions, sizes."""
from .build import *

TARGET = "zstd_stream"
FLOATS_4X4 = b"\x01\x02\x04\x04"
DATA = bytes(range(64))


def item(data=DATA, shape=(4, 4), strides=(4, 1), numel=16, kind="FloatStorage", crc=None, length=None, offset=0, front=(),
         described=True):
    """An item as torch writes it: descriptors behind the data."""
    value = pickled(rebuilt(storage(kind=kind, numel=numel), shape, strides, offset))
    def held(record_name, content, **said):
        if not described:
            return record(record_name, content)
        return record(record_name, content, descriptor=descriptor(content, **said))
    said = {key: given for key, given in (("crc", crc), ("length", length)) if given is not None}
    return archive([*front, held("archive/data.pkl", value), held("archive/data/0", data, **said), held("archive/version", b"3\n")])


def stream(content, expected=FLOATS_4X4):
    return expected + raw_frame(content)


GOOD = raw_frame(item())

ATTACKS = [
    ("Z2-descriptor-of-another-size", 3, "the descriptor behind the data says another size", stream(item(length=60))),
    ("Z5-compressed-twice", 3, "a deflated record inside the stream", stream(archive([record("archive/data.pkl", b"x", method=8)]))),
    ("Z7-record-shorter", 3, "a storage record shorter than its tensor", stream(item(data=DATA[:60]))),
    ("Z7-record-longer", 3, "a storage record longer than its tensor", stream(item(data=DATA + b"more"))),
    ("Z7-record-shorter-known", 3, "the same, its size in the local header", stream(item(data=DATA[:60], described=False))),
    ("Z8-transposed", "accepted", "a transposed item", stream(item(strides=(1, 4)))),
    ("Z8-strides-beyond", 3, "strides that leave the storage", stream(item(strides=(5, 1)))),
    ("Z8-part-of-a-storage", "accepted", "an item that is a part of its storage", stream(item(data=bytes(80), numel=20, offset=4))),
    ("Z11-other-checksum", 3, "a checksum that does not match", stream(item(crc=1))),
    ("Z11-no-checksum", "accepted", "no checksum at all", stream(item(crc=0))),
    ("Z11-known-sizes", "accepted", "sizes in the local headers", stream(item(described=False))),
    ("X5-other-shape", 3, "the item has another shape", stream(item(shape=(2, 8), strides=(8, 1)))),
    ("X5-other-dtype", 3, "the item has another dtype", stream(item(kind="IntStorage"))),
    ("X5-fewer-dimensions", 3, "the item has one dimension", stream(item(shape=(16,), strides=(1,)))),
    ("X5-no-tensor", 3, "the item holds no tensor", stream(archive([record("archive/data.pkl", pickled(NONE))]))),
    ("X5-no-pickle", 3, "the item holds no pickle", stream(archive([record("archive/data/0", DATA)]))),
    ("X5-data-first", 3, "the data comes before the pickle that says what it is", stream(archive([record("archive/data/0", DATA), record("archive/data.pkl", pickled(rebuilt(storage(numel=16), (4, 4), (4, 1))))]))),
    ("X5-no-archive", 3, "the stream holds something else", stream(b"not a zip archive, but long enough to be one")),
    ("X5-nothing", 3, "the stream holds nothing", FLOATS_4X4 + raw_frame(b"")),
    ("X12-whole", "accepted", "a good item, as the others start from it", FLOATS_4X4 + GOOD),
    ("X12-no-stream", 3, "no stream at all", FLOATS_4X4),
    ("X12-not-zstd", 3, "a zip archive that is not compressed", FLOATS_4X4 + item()),
    ("X12-cut-in-the-header", 3, "a stream cut in its first header", FLOATS_4X4 + GOOD[:5]),
    ("X12-cut-in-a-block", 3, "a stream cut in its block", FLOATS_4X4 + GOOD[:-100]),
    ("X12-cut-by-one", 3, "a stream without its last byte", FLOATS_4X4 + GOOD[:-1]),
    ("X12-byte-behind", 3, "a byte behind the stream", FLOATS_4X4 + GOOD + b"\x00"),
    ("X12-second-stream", "any", "a second frame behind the item's", FLOATS_4X4 + GOOD + raw_frame(b"more")),
    ("X12-skippable-frame", "accepted", "a skippable frame in front", FLOATS_4X4 + struct.pack("<II", 0x184D2A50, 4) + b"skip" + GOOD),
    ("X12-skippable-frame-beyond", 3, "a skippable frame of 4 GiB", FLOATS_4X4 + struct.pack("<II", 0x184D2A50, 0xFFFFFFFF) + b"skip"),
    ("X12-content-size-too-large", 3, "a frame that says it has 2 GiB", FLOATS_4X4 + frame(block(item()), 0x7FFFFFFF)),
    ("X12-content-size-too-small", 3, "a frame that says it has one byte", FLOATS_4X4 + frame(block(item()), 1)),
    ("X12-content-size-unknown", "accepted", "a frame that does not say its size", FLOATS_4X4 + frame(block(item()), window=0x40)),
    ("X12-window-2-gib", 3, "a window of 2 GiB", FLOATS_4X4 + frame(block(item()), window=0xA8)),
    ("X12-window-largest", 3, "the largest window that can be said", FLOATS_4X4 + frame(block(item()), window=0xFF)),
    ("X12-window-256-mib", 3, "a window one step above the limit", FLOATS_4X4 + frame(block(item()), window=0x90)),
    ("X12-window-smallest", "accepted", "the smallest window", FLOATS_4X4 + frame(block(item()), window=0)),
    ("X12-bomb", "any", "one byte repeated into megabytes", FLOATS_4X4 + frame(b"".join(block(b"\0", i == 31, 1, 128 << 10) for i in range(32)), window=0x40)),
    ("X12-block-too-large", 3, "a block of more than 128 KiB", FLOATS_4X4 + frame(block(b"\0", True, 1, 200 << 10), window=0x40)),
    ("X12-block-reserved", 3, "a block of the reserved kind", FLOATS_4X4 + frame(block(b"abc", True, 3), window=0x40)),
    ("X12-block-compressed-garbage", 3, "a compressed block of garbage", FLOATS_4X4 + frame(block(b"\xff" * 40, True, 2), window=0x40)),
    ("X12-no-last-block", 3, "a frame whose last block is not marked", FLOATS_4X4 + frame(block(item(), False), window=0x40)),
    ("X12-checksum-missing", 3, "a frame that announces a checksum and has none", FLOATS_4X4 + frame(block(item()), len(item()), flags=4)),
    ("X12-checksum-wrong", 3, "a frame with a wrong checksum", FLOATS_4X4 + frame(block(item()) + b"\1\2\3\4", len(item()), flags=4)),
    ("X12-dictionary", 3, "a frame that needs a dictionary", FLOATS_4X4 + struct.pack("<IBB", 0xFD2FB528, 1, 0x40) + b"\x07" + block(item())),
    ("X12-reserved-bit", 3, "the reserved bit of the frame header", FLOATS_4X4 + frame(block(item()), window=0x40, flags=8)),
    ("X12-empty-blocks", "any", "thousands of empty blocks", FLOATS_4X4 + frame(block(b"", False) * 1500 + block(b"x"), window=0x40)),
    ("X4-empty-tensor", "accepted", "a tensor of no elements needs no item", b"\x01\x01\x00" + raw_frame(b"x")),
]
