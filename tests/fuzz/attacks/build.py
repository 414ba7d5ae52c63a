"""Bytes of pickles, zip archives and zstd frames, put together by hand: every byte is chosen here, so that the same
attacks come out of every Python."""
import binascii
import struct

META = "torch.distributed.checkpoint.metadata"
FILES = "torch.distributed.checkpoint.filesystem"
PROTO2, PROTO4, STOP = b"\x80\x02", b"\x80\x04", b"."
NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"


def text(value):
    """BINUNICODE."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    """BININT1, BININT or LONG1."""
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def name(module, attribute):
    """GLOBAL."""
    return b"c" + module.encode() + b"\n" + attribute.encode() + b"\n"


def items(values):
    """MARK, then the values; the caller adds the opcode that ends it."""
    return b"(" + b"".join(values)


def tuple_of(*values):
    return items(values) + b"t"


def list_of(*values):
    return b"]" + items(values) + b"e"


def dict_of(*pairs):
    """Pairs of a text and a pickled value; a key that is bytes is pickled already."""
    keyed = [(text(key) if isinstance(key, str) else key) + value for key, value in pairs]
    return b"}" + items(keyed) + b"u"


def call(called, *arguments):
    return called + tuple_of(*arguments) + b"R"


def filled(kind, *fields):
    """NEWOBJ without arguments, and BUILD with these fields."""
    return kind + b")\x81" + dict_of(*fields) + b"b"


def pickled(value, proto=PROTO2):
    return proto + value + STOP


# .metadata

def size(*numbers):
    return call(name("torch", "Size"), tuple_of(*map(number, numbers)))


def properties(dtype="float32"):
    return name(META, "TensorProperties") + b")\x81" + tuple_of(
        name("torch", dtype), call(name("torch.serialization", "_get_layout"), text("torch.strided")), FALSE,
        call(name(META, "_MEM_FORMAT_ENCODING"), number(0)), FALSE) + b"b"


def chunk(offsets, sizes):
    return filled(name(META, "ChunkStorageMetadata"), ("offsets", size(*offsets)), ("sizes", size(*sizes)))


def tensor(shape, chunks, dtype="float32"):
    """Chunks are pairs of offsets and sizes, or pickled already."""
    made = [part if isinstance(part, bytes) else chunk(*part) for part in chunks]
    return filled(name(META, "TensorStorageMetadata"), ("properties", properties(dtype)),
                  ("size", shape if isinstance(shape, bytes) else size(*shape)), ("chunks", list_of(*made)))


def index(fqn, offsets=None):
    return filled(name(META, "MetadataIndex"), ("fqn", text(fqn)),
                  ("offset", NONE if offsets is None else size(*offsets)), ("index", NONE))


def stored(path="__0_0.distcp", offset=0, length=64, *more):
    return filled(name(FILES, "_StorageInfo"), ("relative_path", text(path)), ("offset", number(offset)),
                  ("length", number(length)), *more)


def metadata(state, storage, planner=(), more=()):
    """`state`: (name, pickled value); `storage`: (pickled index, pickled info)."""
    return pickled(filled(name(META, "Metadata"), ("state_dict_metadata", dict_of(*state)),
                          ("planner_data", dict_of(*planner)), ("storage_data", dict_of(*storage)), *more), PROTO4)


# Archives

def record(record_name, data, **fields):
    """A record of archive(); fields: local_* and central_* replace what a header says, flags, method, extra, descriptor."""
    return {"name": record_name.encode("latin-1"), "data": data, **fields}


def local_header(item):
    said = {"flags": item.get("flags", 0), "method": item.get("method", 0), "crc": binascii.crc32(item["data"]),
            "stored": len(item["data"]), "size": len(item["data"]), "name": item["name"], "extra": item.get("extra", b"")}
    if "descriptor" in item:
        said.update(flags=item.get("flags", 0x808), crc=0, stored=0, size=0)
    said.update({key[6:]: value for key, value in item.items() if key.startswith("local_")})
    return struct.pack("<IHHHHHIIIHH", said.get("signature", 0x04034b50), 0, said["flags"], said["method"], 0, 0,
                       said["crc"], said["stored"], said["size"], len(said["name"]), len(said["extra"])) \
        + said["name"] + said["extra"]


def central_header(item, at):
    said = {"flags": item.get("flags", 0x808 if "descriptor" in item else 0), "method": item.get("method", 0),
            "crc": binascii.crc32(item["data"]), "stored": len(item["data"]), "size": len(item["data"]),
            "name": item["name"], "extra": b"", "comment": b"", "disk": 0, "at": at}
    said.update({key[8:]: value for key, value in item.items() if key.startswith("central_")})
    return struct.pack("<IHHHHHHIIIHHHHHII", said.get("signature", 0x02014b50), 0, 0, said["flags"], said["method"], 0,
                       0, said["crc"], said["stored"], said["size"], len(said["name"]), len(said["extra"]),
                       len(said["comment"]), said["disk"], 0, 0, said["at"]) \
        + said["name"] + said["extra"] + said["comment"]


def descriptor(data, crc=None, length=None):
    length = len(data) if length is None else length
    return struct.pack("<IIII", 0x08074b50, binascii.crc32(data) if crc is None else crc, length, length)


def end_record(count, directory_size, directory_at, comment=b"", **said):
    return struct.pack("<IHHHHIIH", 0x06054b50, said.get("disk", 0), 0, said.get("on_disk", count), count, directory_size,
                       directory_at, said.get("comment_length", len(comment))) + comment


def zip64_end(count, directory_size, directory_at, at, **said):
    return struct.pack("<IQHHIIQQQQ", 0x06064b50, said.get("record_size", 44), 0, 0, 0, 0, count, count, directory_size,
                       directory_at) + struct.pack("<IIQI", 0x07064b50, 0, said.get("points_to", at), 1)


def archive(records, front=b"", end=None):
    """`end(count, directory size, directory offset)` makes the end records."""
    out, directory = bytearray(front), b""
    for item in records:
        directory += central_header(item, item.get("header_at", len(out)))
        out += local_header(item) + item["data"] + item.get("descriptor", b"")
    return bytes(out) + directory + (end or end_record)(len(records), len(directory), len(out))


# Torch files

def storage(key="0", numel=4, kind="FloatStorage", location="cpu", module="torch"):
    return tuple_of(text("storage"), name(module, kind), key if isinstance(key, bytes) else text(key), text(location),
                    number(numel)) + b"Q"


def ints(numbers):
    return tuple_of(*map(number, numbers))


def rebuilt(held, shape=(4,), strides=(1,), offset=0, function="_rebuild_tensor_v2", more=()):
    return call(name("torch._utils", function), held, number(offset), ints(shape), ints(strides), FALSE,
                call(name("collections", "OrderedDict")), *more)


def torch_file(value, storages=(bytes(16),), order=b"little", **fields):
    """What torch.save writes for the pickled value; storages are data/0, data/1 ..."""
    records = [record("f/data.pkl", pickled(value), **fields), record("f/byteorder", order)]
    records += [record(f"f/data/{i}", data) for i, data in enumerate(storages)]
    return archive(records + [record("f/version", b"3\n")])


# Zstandard (RFC 8878)

def block(data, last=True, kind=0, length=None):
    """kind 0: raw, 1: one byte repeated `length` times, 2: compressed."""
    length = len(data) if length is None else length
    return struct.pack("<I", int(last) | kind << 1 | length << 3)[:3] + data


def frame(blocks, content_size=None, window=None, flags=0):
    """A frame with this content size (none: unknown) or window byte."""
    if content_size is None:
        return struct.pack("<IBB", 0xFD2FB528, flags, 0x40 if window is None else window) + blocks
    return struct.pack("<IBI", 0xFD2FB528, 0xA0 | flags, content_size) + blocks


def raw_frame(data):
    return frame(block(data), len(data))
