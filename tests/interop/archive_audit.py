"""Judges a written .pt from outside torch: the zip structure, every CRC, and the pickle's opcodes and globals."""
import io
import pickle
import pickletools
import struct
import zipfile
import zlib
from collections import OrderedDict

# What torch's weights_only unpickler of every version since 2.0 executes; nothing else may be in data.pkl.
OPCODES = set("""PROTO STOP MARK GLOBAL NEWOBJ REDUCE BUILD APPEND APPENDS SETITEM SETITEMS TUPLE EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3
NONE NEWFALSE NEWTRUE EMPTY_LIST EMPTY_DICT EMPTY_SET BININT BININT1 BININT2 BINFLOAT BINUNICODE SHORT_BINSTRING BINPERSID
BINGET LONG_BINGET BINPUT LONG_BINPUT LONG1""".split())

CLASSIC = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
           "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex128": "ComplexDouble", "complex64": "ComplexFloat"}


class Archive:
    """One .pt: `records` name -> (header offset, data offset, size), `globals` and `storages` of its pickle."""

    def __init__(self, path):
        self.bytes = memoryview(open(str(path), "rb").read())
        self.zip = zipfile.ZipFile(str(path))
        self.problems = []
        self.prefix = self.zip.infolist()[0].filename.split("/")[0]
        for info in self.zip.infolist():
            self.check_record(info)
        self.read_pickle()
        self.check_storages()

    def say(self, problem):
        self.problems.append(problem)

    def check_record(self, info):
        """The local header tells the truth: CRC and sizes are real, nothing is deflated, no descriptor follows."""
        start = info.header_offset
        fields = struct.unpack_from("<4sHHHHHIIIHH", self.bytes, start)
        signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
        data = start + 30 + name_length + extra_length
        content = self.bytes[data:data + info.file_size]
        if signature != b"PK\x03\x04" or method != 0 or flags & ~0x0800:
            self.say(f"{info.filename}: signature {signature!r}, method {method}, flags {flags:#x}")
        if zlib.crc32(content) != crc or info.CRC != crc:
            self.say(f"{info.filename}: CRC {zlib.crc32(content):08x}, local header {crc:08x}, directory {info.CRC:08x}")
        if 0xffffffff not in (packed, size) and (packed, size) != (info.file_size, info.file_size):
            self.say(f"{info.filename}: {info.file_size} bytes, local header says {packed} and {size}")
        if not info.filename.startswith(self.prefix + "/"):
            self.say(f"{info.filename}: not below {self.prefix}/")
        if "/data/" in info.filename and info.file_size and data % 64:
            self.say(f"{info.filename}: data at {data}, not a multiple of 64")

    def record(self, name):
        return self.zip.read(f"{self.prefix}/{name}")

    def read_pickle(self):
        data = self.record("data.pkl")
        used = {op.name for op, _, _ in pickletools.genops(data)}
        if used - OPCODES:
            self.say(f"data.pkl uses {sorted(used - OPCODES)}")
        if data[:2] != b"\x80\x02":
            self.say(f"data.pkl starts with {data[:2]!r}, want protocol 2")
        reader = NameReader(data)
        reader.load()
        self.globals, self.storages = reader.names, reader.storages

    def check_storages(self):
        names = {i.filename[len(self.prefix) + 1:]: i.file_size for i in self.zip.infolist()}
        if names.pop("version", None) is None or self.record("version").strip() != b"3":
            self.say("no record version with 3 in it")
        if self.bytes[:4] != b"PK\x03\x04":
            self.say("the file does not start with a local header")
        for forbidden in (".format_version", ".storage_alignment"):
            if forbidden in names:
                self.say(f"{forbidden}: makes torch predict offsets instead of reading them")
        records = {n[5:]: size for n, size in names.items() if n.startswith("data/")}
        declared = {key: size for key, (_, _, size) in self.storages.items()}
        for key in sorted(set(records) | set(declared)):
            if records.get(key) != declared.get(key):
                self.say(f"storage {key}: {records.get(key)} bytes in the archive, {declared.get(key)} declared")

    def test_crcs(self):
        return self.zip.testzip()


class Anything:
    """Stands for whatever a global names; accepts every construction and fill."""

    def __init__(self, *_, **__):
        pass

    def __setstate__(self, _):
        pass

    def __setitem__(self, *_):
        pass

    def append(self, _):
        pass

    extend = append


class NameReader(pickle.Unpickler):
    """Walks a data.pkl without importing anything; collects global names and storages."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self.names, self.storages = set(), {}

    def find_class(self, module, name):
        self.names.add(f"{module}.{name}")
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        return type(name, (Anything,), {"global_name": f"{module}.{name}"})

    def persistent_load(self, pid):
        kind, storage, key, location, count = pid
        assert kind == "storage", pid
        size = count * item_size(storage.global_name)
        if self.storages.setdefault(key, (storage.global_name, location, size)) != (storage.global_name, location, size):
            raise ValueError(f"storage {key} is used as {self.storages[key]} and as {storage.global_name}")
        return Anything()


def item_size(storage):
    sizes = {"Double": 8, "Float": 4, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2, "Char": 1, "Byte": 1, "Bool": 1,
             "ComplexDouble": 16, "ComplexFloat": 8, "Untyped": 1}
    return sizes[storage.split(".")[-1][:-len("Storage")]]


def audit(path):
    """(problems, archive) of a written file; an archive that cannot be read at all is one problem."""
    try:
        archive = Archive(path)
    except Exception as e:
        return [f"{type(e).__name__}: {e}"], None
    bad = archive.test_crcs()
    return archive.problems + ([f"testzip: {bad}"] if bad else []), archive
