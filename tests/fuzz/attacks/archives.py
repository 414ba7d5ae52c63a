"""Attacks on the archive reader: rows Z1 to Z6."""
from .build import *

TARGET = "zip_directory"
DATA = b"0123456789abcdef"


def one(**fields):
    return archive([record("f/data.pkl", b"N."), record("f/data/0", DATA, **fields)])


def ended(end):
    return archive([record("f/data/0", DATA)], end=end)


def described(**said):
    return record("f/data/0", DATA, descriptor=descriptor(DATA, **said))


def wide(count, size, at, **said):
    """A zip64 end record in front of a saturated one."""
    return zip64_end(count, size, at, at + size, **said) + end_record(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


def two_directories():
    first = archive([record("f/a", DATA)])
    return archive([record("f/b", DATA, header_at=len(first))], front=first)


def overlapping(header_at, data=DATA):
    return archive([record("f/a", data), record("f/b", DATA, header_at=header_at)])


def nested():
    """The second record's header lies in the first one's payload."""
    inner = record("f/b", b"x")
    outer = record("f/a", local_header(inner) + b"x")
    head = len(local_header(outer))
    return local_header(outer) + outer["data"] + central_header(outer, 0) + central_header(inner, head) + end_record(
        2, len(central_header(outer, 0) + central_header(inner, head)), head + len(outer["data"]))


ATTACKS = [
    ("Z1-other-name", 3, "the local header has another name of the same length", one(local_name=b"f/data/1")),
    ("Z1-longer-name", 3, "the local header has a longer name", one(local_name=b"f/data/00")),
    ("Z1-other-flags", 3, "the local header has other flags", one(local_flags=0x800)),
    ("Z1-encrypted", 3, "the encryption bit", one(flags=1)),
    ("Z1-encrypted-locally", 3, "the encryption bit in the local header alone", one(local_flags=1)),
    ("Z1-strong-encryption", 3, "a flag that no reader here knows", one(flags=0x40)),
    ("Z1-patched-data", 3, "the bit for patched data", one(flags=0x20)),
    ("Z1-other-method", 3, "the local header says deflated", one(local_method=8)),
    ("Z1-other-size", 3, "the local header has another size", one(local_size=8, local_stored=8)),
    ("Z1-other-stored-size", 3, "the two sizes of a stored record differ in the local header", one(local_stored=8)),
    ("Z1-other-crc", 3, "the local header has another checksum", one(local_crc=1)),
    ("Z1-zero-size-without-descriptor", 3, "sizes of 0 without a descriptor behind the data", one(local_size=0, local_stored=0)),
    ("Z1-no-local-header", 3, "no local header where the directory says", one(local_signature=0x04034b51)),
    ("Z1-no-central-header", 3, "no directory entry where one is expected", one(central_signature=0x02014b51)),
    ("Z2-descriptor", "accepted", "sizes that only the directory has, and a descriptor", archive([described()])),
    ("Z2-descriptor-of-another-size", "any", "the descriptor says another size", archive([described(length=15)])),
    ("Z2-descriptor-of-another-crc", "any", "the descriptor says another checksum", archive([described(crc=1)])),
    ("Z2-descriptor-missing", 3, "the descriptor's place is the directory's", archive([record("f/data/0", DATA, descriptor=b"")])),
    ("Z2-descriptor-cut", 3, "half a descriptor", archive([record("f/data/0", DATA, descriptor=descriptor(DATA)[:8])])),
    ("Z2-descriptor-in-the-data", "accepted", "a payload that holds what looks like a descriptor of its first bytes", archive([record("f/data/0", b"abc" + descriptor(b"abc", crc=1) + b"d", descriptor=descriptor(b"abc" + descriptor(b"abc", crc=1) + b"d"))])),
    ("Z3-same-place", 3, "two records in one place", overlapping(0)),
    ("Z3-shifted", 3, "two records that overlap in part", archive([record("f/a", DATA, central_size=20, central_stored=20, local_size=20, local_stored=20), record("f/b", DATA)])),
    ("Z3-nested", 3, "a record inside another's payload", nested()),
    ("Z3-over-the-directory", 3, "a payload that reaches into the directory", one(central_size=64, central_stored=64, local_size=64, local_stored=64)),
    ("Z3-beyond-the-file", 3, "a payload that reaches beyond the file", one(central_size=1 << 20, central_stored=1 << 20, local_size=1 << 20, local_stored=1 << 20)),
    ("Z3-header-in-the-directory", 3, "a local header behind the directory's start", archive([record("f/a", DATA), record("f/b", DATA, header_at=120)])),
    ("Z3-header-beyond-the-file", 3, "a local header beyond the file", archive([record("f/a", DATA, header_at=0xFFFFFFF0)])),
    ("Z3-gap", "any", "bytes between two records that belong to none", archive([record("f/a", DATA, descriptor=b"hidden bytes", flags=0), record("f/b", DATA)])),
    ("Z3-reverse-order", "accepted", "a directory in another order than the records", (lambda a, b: local_header(a) + DATA + local_header(b) + DATA + central_header(b, len(local_header(a)) + 16) + central_header(a, 0) + end_record(2, 98, 98))(record("f/a", DATA), record("f/b", DATA))),
    ("Z4-size-without-zip64", 3, "a saturated size without a zip64 field", one(central_size=0xFFFFFFFF)),
    ("Z4-offset-without-zip64", 3, "a saturated offset without a zip64 field", one(header_at=0xFFFFFFFF)),
    ("Z4-zip64-field-short", 3, "a zip64 field of four bytes", one(central_size=0xFFFFFFFF, central_stored=0xFFFFFFFF, central_extra=b"\x01\x00\x04\x00\x10\x00\x00\x00")),
    ("Z4-zip64-field-of-one-number", 3, "a zip64 field with one number where two are needed", one(central_size=0xFFFFFFFF, central_stored=0xFFFFFFFF, central_extra=b"\x01\x00\x08\x00" + struct.pack("<Q", 16))),
    ("Z4-zip64-field-twice", 3, "two zip64 fields", one(central_extra=(b"\x01\x00\x08\x00" + struct.pack("<Q", 16)) * 2)),
    ("Z4-zip64-size-wraps", 3, "a 64-bit size that wraps around with its offset", one(central_size=0xFFFFFFFF, central_stored=0xFFFFFFFF, central_extra=b"\x01\x00\x10\x00" + b"\xff" * 16, local_size=0, local_stored=0, flags=8)),
    ("Z4-zip64-offset-wraps", 3, "a 64-bit offset near the limit", one(header_at=0xFFFFFFFF, central_extra=b"\x01\x00\x08\x00" + b"\xf0" + b"\xff" * 7)),
    ("Z4-zip64-fields", "accepted", "sizes in zip64 fields where they are not needed", one(central_size=0xFFFFFFFF, central_stored=0xFFFFFFFF, central_extra=b"\x01\x00\x10\x00" + struct.pack("<QQ", 16, 16), local_size=0xFFFFFFFF, local_stored=0xFFFFFFFF, local_extra=b"\x01\x00\x10\x00" + struct.pack("<QQ", 16, 16))),
    ("Z4-extra-cut", 3, "an extra field longer than all extra fields", one(central_size=0xFFFFFFFF, central_extra=b"\x01\x00\xff\xff")),
    ("Z4-zip64-end", "accepted", "a zip64 end record where it is not needed", ended(wide)),
    ("Z4-zip64-end-disagrees", 3, "the two end records disagree about the number of records", ended(lambda n, s, a: zip64_end(2, s, a, a + s) + end_record(n, s, a))),
    ("Z4-zip64-end-points-elsewhere", 3, "the locator points to another place", ended(lambda n, s, a: wide(n, s, a, points_to=0))),
    ("Z4-zip64-end-of-another-size", 3, "a zip64 end record of an unknown size", ended(lambda n, s, a: wide(n, s, a, record_size=1 << 40))),
    ("Z4-zip64-end-missing", 3, "a saturated end record alone", ended(lambda n, s, a: end_record(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF))),
    ("Z4-zip64-count-huge", 3, "2^60 records in a directory of a few bytes", ended(lambda n, s, a: wide(1 << 60, s, a))),
    ("Z4-directory-offset-wraps", 3, "directory offset and size wrap around", ended(lambda n, s, a: zip64_end(n, (1 << 64) - 8, s + a + 8, a + s) + end_record(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF))),
    ("Z4-two-end-records", 3, "an end record behind the end record", ended(lambda n, s, a: end_record(n, s, a) + end_record(n, s, a))),
    ("Z4-two-directories", 3, "a whole archive in front of another", two_directories()),
    ("Z4-end-record-in-a-comment", 3, "an end record inside another's comment", ended(lambda n, s, a: end_record(n, s, a, comment=end_record(n, s, a)))),
    ("Z4-comment", 3, "a comment behind the end", ended(lambda n, s, a: end_record(n, s, a, comment=b"hello"))),
    ("Z4-comment-announced", 3, "a comment that is not there", ended(lambda n, s, a: end_record(n, s, a, comment_length=5))),
    ("Z4-bytes-in-front", 3, "a script in front of the first record", archive([record("f/a", DATA)], front=b"#!/bin/sh\n")),
    ("Z4-zeros-in-front", "accepted", "zeros in front of the first record", archive([record("f/a", DATA)], front=bytes(64))),
    ("Z4-bytes-behind", 3, "a byte behind the end", one() + b"\x00"),
    ("Z4-other-disk", 3, "an archive in several parts", ended(lambda n, s, a: end_record(n, s, a, disk=1))),
    ("Z4-record-on-other-disk", 3, "a record on another disk", one(central_disk=1)),
    ("Z4-count-too-small", 3, "fewer records than the directory has", archive([record("f/a", DATA), record("f/b", DATA)], end=lambda n, s, a: end_record(1, s, a))),
    ("Z4-count-too-large", 3, "more records than the directory has", ended(lambda n, s, a: end_record(2, s, a))),
    ("Z4-no-records", 3, "an archive of no records", archive([])),
    ("Z4-empty", 3, "no byte at all", b""),
    ("Z4-end-record-alone-cut", 3, "an end record without its last byte", end_record(0, 0, 0)[:-1]),
    ("Z5-deflated", 3, "a compressed record", one(method=8)),
    ("Z5-deflate-bomb", 3, "a record that says it grows a thousand times", one(method=8, central_size=16000, local_size=16000)),
    ("Z5-two-sizes", 3, "a stored record of two sizes", one(central_size=16000)),
    ("Z5-unknown-method", 3, "a method that does not exist", one(method=0xFFFF)),
    ("Z6-name-twice", 3, "two records of one name", archive([record("f/a", DATA), record("f/a", DATA)])),
    ("Z6-name-twice-of-many", 3, "two records of one name among twenty", archive([record(f"f/{i % 19}", b"x") for i in range(20)])),
    ("Z6-absolute", 3, "an absolute name", archive([record("/etc/passwd", DATA)])),
    ("Z6-parent", "any", "a name that leads out of its folder; names are no paths here", archive([record("f/../../x", DATA)])),
    ("Z6-no-folder", 3, "a name without a folder", archive([record("data.pkl", DATA)])),
    ("Z6-two-folders", 3, "records in two folders", archive([record("f/a", DATA), record("g/a", DATA)])),
    ("Z6-empty-name", 3, "a record without a name", archive([record("", DATA)])),
    ("Z6-nul", "any", "a name with a zero byte", archive([record("f/a\0b", DATA)])),
    ("Z6-backslash", "any", "a name with backslashes", archive([record("f/..\\x", DATA)])),
    ("Z6-case-twins", "accepted", "names that differ in case only are two", archive([record("f/a", DATA), record("f/A", DATA)])),
    ("Z6-not-utf8", "any", "a name that is no text", archive([record("f/\xff\xfe", DATA)])),
]
