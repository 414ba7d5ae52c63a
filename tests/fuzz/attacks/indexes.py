"""Attacks on .metadata beside two rank files of 1 MiB: rows P1, P2, P7, P12, X1 to X8, X12."""
from .build import *

TARGET = "dcp_metadata"
WHOLE = ((0, 0), (2, 3))


def of(shape=(2, 3), chunks=(WHOLE,), places=None, dtype="float32", more=()):
    """One tensor "w"; `places` are pickled storage items, by default one a chunk."""
    made = [(index("w", part[0]), stored(offset=64 * i)) for i, part in enumerate(chunks) if not isinstance(part, bytes)]
    return metadata([("w", tensor(shape, chunks, dtype))], made if places is None else places, [("w", tuple_of(text("w")))],
                    more)


def at(info):
    return of(places=[(index("w", (0, 0)), info)])


def path(value):
    return at(stored(value))


def tensor_fields(*fields):
    return metadata([("w", filled(name(META, "TensorStorageMetadata"), *fields))], [])


def extra(value):
    """A well-formed index with this value beside it."""
    return of(more=(("extra", value),))


def sized(pickled_size):
    return tensor_fields(("properties", properties()), ("size", pickled_size), ("chunks", list_of()))


def columns(count):
    return [((0, i), (2, 1)) for i in range(count)]


ATTACKS = [
    ("P1-os-system", 5, "os.system named", extra(name("posix", "system"))),
    ("P1-os-system-called", 5, "os.system called", extra(call(name("os", "system"), text("id")))),
    ("P1-eval", 5, "eval called", extra(call(name("builtins", "eval"), text("1")))),
    ("P1-unknown-class", 5, "a class that no writer puts there", extra(filled(name("user", "Config")))),
    ("P1-numpy", 5, "numpy's rebuild function", extra(name("numpy.core.multiarray", "_reconstruct"))),
    ("P1-torch-load", 5, "torch.load", extra(name("torch", "load"))),
    ("P1-dtype-like", 5, "a name of torch that is no dtype", extra(name("torch", "float33"))),
    ("P1-pathlib", "accepted", "the writer's path is data", extra(call(name("pathlib", "PosixPath"), text("/"), text("etc")))),
    ("P1-pathlib-method", 5, "another name of pathlib", extra(name("pathlib", "os"))),
    ("P1-stack-global", 5, "os.system by STACK_GLOBAL", extra(b"\x8c\x02os\x8c\x06system\x93")),
    ("P2-size-without-arguments", 3, "torch.Size of nothing", sized(call(name("torch", "Size")))),
    ("P2-size-of-a-number", 3, "torch.Size of a number", sized(call(name("torch", "Size"), number(3)))),
    ("P2-size-of-two-tuples", 3, "torch.Size of two arguments", sized(call(name("torch", "Size"), ints((1,)), ints((2,))))),
    ("P2-size-not-called", 3, "torch.Size itself as a size", sized(name("torch", "Size"))),
    ("P2-properties-a-dict", 3, "properties that are a dict", tensor_fields(("properties", name(META, "TensorProperties") + b")\x81}b"), ("size", size(2)), ("chunks", list_of()))),
    ("P2-properties-short", 3, "properties of one field", tensor_fields(("properties", name(META, "TensorProperties") + b")\x81" + tuple_of(name("torch", "float32")) + b"b"), ("size", size(2)), ("chunks", list_of()))),
    ("P2-properties-missing", 3, "a tensor without properties", tensor_fields(("size", size(2)), ("chunks", list_of()))),
    ("P2-size-missing", 3, "a tensor without a size", tensor_fields(("properties", properties()), ("chunks", list_of()))),
    ("P2-chunks-missing", 3, "a tensor without chunks", tensor_fields(("properties", properties()), ("size", size(2)))),
    ("P2-chunks-a-tuple", 3, "chunks that are a tuple", tensor_fields(("properties", properties()), ("size", size(2)), ("chunks", tuple_of()))),
    ("P2-chunk-a-number", 3, "a chunk that is a number", of(chunks=(number(1),))),
    ("P2-chunk-of-numbers", 3, "a chunk whose offsets are numbers", of(chunks=(filled(name(META, "ChunkStorageMetadata"), ("offsets", number(0)), ("sizes", number(6))),))),
    ("P2-chunk-built-twice", 3, "a chunk that is given a state again", of(chunks=(chunk(*WHOLE) + b"}b",))),
    ("P2-dtype-text", 3, "a dtype that is text", tensor_fields(("properties", name(META, "TensorProperties") + b")\x81" + tuple_of(text("float32"), NONE, NONE, NONE, NONE) + b"b"), ("size", size(2)), ("chunks", list_of()))),
    ("P2-index-without-name", 3, "an item without a name", of(places=[(filled(name(META, "MetadataIndex"), ("offset", size(0, 0))), stored())])),
    ("P2-not-metadata", 3, "a dict where Metadata is expected", pickled(dict_of(("state_dict_metadata", b"}")), PROTO4)),
    ("P2-metadata-without-state", 3, "Metadata without fields", pickled(name(META, "Metadata") + b")\x81", PROTO4)),
    ("P2-state-a-list", "any", "entries in a list", pickled(filled(name(META, "Metadata"), ("state_dict_metadata", b"]"), ("storage_data", b"]")), PROTO4)),
    ("P3-storage-items-odd", 3, "a storage item without its place", pickled(filled(name(META, "Metadata"), ("storage_data", b"}(" + index("w", (0, 0)) + b"u")), PROTO4)),
    ("P7-size-beyond-64-bits", 3, "a size of 2^63", sized(size(1 << 63))),
    ("P7-size-of-255-bytes", 3, "a size of 255 bytes", sized(call(name("torch", "Size"), tuple_of(b"\x8a\xff" + b"\x7f" * 255)))),
    ("P7-length-beyond-64-bits", 3, "an item of 2^64 bytes", at(stored(length=1 << 64))),
    ("P12-entry-twice", 3, "the same name twice", metadata([("w", tensor((2, 3), [WHOLE])), ("w", tensor((2, 3), [WHOLE]))], [(index("w", (0, 0)), stored())])),
    ("P12-tensor-and-object", 3, "one name as tensor and as object", metadata([("w", tensor((2, 3), [WHOLE])), ("w", filled(name(META, "BytesStorageMetadata")))], [(index("w", (0, 0)), stored())])),
    ("P12-name-a-number", "any", "an entry whose name is a number", metadata([(number(1), tensor((2, 3), [WHOLE]))], [])),
    ("P12-path-of-floats", 3, "a path with a float", metadata([("w", tensor((2, 3), [WHOLE]))], [(index("w", (0, 0)), stored())], [("w", tuple_of(b"G\x40\x10\x00\x00\x00\x00\x00\x00"))])),
    ("P12-path-clash", 3, "two entries in one place", metadata([("a", tensor((2, 3), [WHOLE])), ("b", tensor((2, 3), [WHOLE]))], [(index("a", (0, 0)), stored()), (index("b", (0, 0)), stored())], [("a", tuple_of(text("x"))), ("b", tuple_of(text("x")))])),
    ("P12-path-list-position-huge", 3, "a list position of 2^40", metadata([("w", tensor((2, 3), [WHOLE]))], [(index("w", (0, 0)), stored())], [("w", tuple_of(text("x"), number(1 << 40)))])),
    ("P12-path-list-position-negative", 3, "a list position of -1", metadata([("w", tensor((2, 3), [WHOLE]))], [(index("w", (0, 0)), stored())], [("w", tuple_of(text("x"), number(-1)))])),
    ("P12-path-2000-deep", 3, "a path of 2,000 keys", metadata([("w", tensor((2, 3), [WHOLE]))], [(index("w", (0, 0)), stored())], [("w", tuple_of(*[text("k")] * 2000))])),
    ("X1-shape-negative", 3, "a negative shape", of(shape=(-2, 3))),
    ("X1-shape-float", 3, "a shape with a float", sized(call(name("torch", "Size"), tuple_of(b"G\x40\x00\x00\x00\x00\x00\x00\x00")))),
    ("X1-shape-not-a-number", 3, "a shape with a NaN", sized(call(name("torch", "Size"), tuple_of(b"G\x7f\xf8\x00\x00\x00\x00\x00\x00")))),
    ("X1-shape-boolean", 3, "a shape with a boolean", sized(call(name("torch", "Size"), tuple_of(TRUE)))),
    ("X1-65-dimensions", 3, "65 dimensions", sized(size(*[1] * 65))),
    ("X1-shape-overflows", 3, "a shape of 2^80 elements", of(shape=(1 << 40, 1 << 40), chunks=(((0, 0), (1 << 40, 1 << 40)),))),
    ("X1-chunk-of-other-rank", 3, "a chunk of one dimension in a tensor of two", of(chunks=(chunk((0,), (6,)),))),
    ("X1-offsets-and-sizes-differ", 3, "a chunk of one offset and two sizes", of(chunks=(chunk((0,), (2, 3)),))),
    ("X2-gap", 3, "a row that no chunk holds", of(chunks=(((0, 0), (1, 3)),))),
    ("X2-gap-in-the-middle", 3, "a column between two chunks", of(chunks=(((0, 0), (2, 1)), ((0, 2), (2, 1))))),
    ("X2-no-chunks", 3, "a tensor without chunks", of(chunks=())),
    ("X2-hole-between-four", 3, "four chunks around a hole", of(shape=(3, 3), chunks=(((0, 0), (1, 2)), ((0, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 0), (2, 1))))),
    ("X3-overlap", 3, "two chunks that share a row", of(shape=(3, 3), chunks=(((0, 0), (2, 3)), ((1, 0), (2, 3))))),
    ("X3-overlap-inside", 3, "a chunk inside another", of(chunks=(WHOLE, ((1, 1), (1, 1))))),
    ("X3-replicas", "any", "the same box twice", of(chunks=(WHOLE, WHOLE))),
    ("X3-overlap-and-gap", 3, "an overlap as large as the gap", of(shape=(4, 1), chunks=(((0, 0), (2, 1)), ((1, 0), (2, 1))))),
    ("X3-columns-beside-rows", "accepted", "a row of its own beside columns", of(shape=(3, 20), chunks=[((2, 0), (1, 20))] + columns(20))),
    ("X4-outside", 3, "a chunk that ends outside", of(chunks=(((1, 0), (2, 3)),))),
    ("X4-far-outside", 3, "a chunk that starts at 2^62", of(chunks=(((1 << 62, 0), (2, 3)),))),
    ("X4-wraps", 3, "a chunk whose end wraps around", of(chunks=((((1 << 63) - 1, 0), ((1 << 63) - 1, 3)),))),
    ("X4-empty-chunk", "accepted", "an empty chunk beside a whole one", of(chunks=(WHOLE, ((2, 0), (0, 3))))),
    ("X4-empty-tensor", "accepted", "a tensor without elements", of(shape=(0, 3), chunks=())),
    ("X4-no-dimensions", "accepted", "a tensor without dimensions", of(shape=(), chunks=(((), ()),))),
    ("X4-no-dimensions-no-chunk", 3, "a tensor without dimensions and without its element", of(shape=(), chunks=())),
    ("X5-unknown-dtype", 3, "a dtype that is stored nowhere", of(dtype="Size")),
    ("X6-not-stored", 3, "a chunk that no file holds", of(places=[])),
    ("X6-object-not-stored", 3, "an object that no file holds", metadata([("o", filled(name(META, "BytesStorageMetadata")))], [])),
    ("X6-stored-twice", 3, "a chunk that two places hold", of(places=[(index("w", (0, 0)), stored()), (index("w", (0, 0)), stored(offset=64))])),
    ("X6-unknown-item", "accepted", "an item of a tensor that is not listed", of(places=[(index("w", (0, 0)), stored()), (index("v", (0, 0)), stored())])),
    ("X6-unknown-box", "accepted", "an item of a chunk that is not listed", of(places=[(index("w", (0, 0)), stored()), (index("w", (1, 1)), stored())])),
    ("X6-shared-place", "accepted", "two chunks in one place; their content is checked later", of(shape=(2, 2), chunks=(((0, 0), (1, 2)), ((1, 0), (1, 2))), places=[(index("w", (0, 0)), stored()), (index("w", (1, 0)), stored())])),
    ("X7-beyond-the-file", 3, "an item that ends behind its file", at(stored(offset=(1 << 20) - 63))),
    ("X7-at-the-end", "accepted", "an item that ends with its file", at(stored(offset=(1 << 20) - 64))),
    ("X7-wraps", 3, "offset and length wrap around", at(stored(offset=(1 << 63) - 1, length=(1 << 63) - 1))),
    ("X7-offset-negative", 3, "a negative offset", at(stored(offset=-1))),
    ("X7-length-negative", 3, "a negative length", at(stored(length=-1))),
    ("X7-length-zero", "any", "an item of no bytes", at(stored(length=0))),
    ("X7-offset-text", 3, "an offset that is text", at(filled(name(FILES, "_StorageInfo"), ("relative_path", text("__0_0.distcp")), ("offset", text("0")), ("length", number(64))))),
    ("X7-file-missing", 3, "a rank file that is not there", path("__7_0.distcp")),
    ("X8-absolute", 5, "an absolute path", path("/etc/passwd")),
    ("X8-parent", 5, "a path to the folder above", path("../__0_0.distcp")),
    ("X8-parent-inside", 5, "a path that leaves and comes back", path("a/../../x/__0_0.distcp")),
    ("X8-parent-at-the-end", 5, "a path that ends with ..", path("a/..")),
    ("X8-nul", 5, "a path with a zero byte", path("__0_0.distcp\0.txt")),
    ("X8-empty", 5, "an empty path", path("")),
    ("X8-device", 5, "a device", path("/dev/zero")),
    ("X8-proc", 5, "this process's own files", path("/proc/self/mem")),
    ("X8-directory", 5, "the folder itself", path(".")),
    ("X8-very-long", 3, "a path longer than any file's", path("a" * 5000)),
    ("X8-dots-in-a-name", 3, "dots inside a name lead nowhere", path("a..b")),
    ("X8-path-a-number", 3, "a path that is a number", at(filled(name(FILES, "_StorageInfo"), ("relative_path", number(0)), ("offset", number(0)), ("length", number(64))))),
    ("X12-unknown-transform", 3, "an encoding that is not known", at(stored("__0_0.distcp", 0, 64, ("transform_descriptors", list_of(text("stream.lzma/1")))))),
    ("X12-next-version", 3, "a later version of a known encoding", at(stored("__0_0.distcp", 0, 64, ("transform_descriptors", list_of(text("stream.zstd/2")))))),
    ("X12-twice", 3, "an encoding around an encoding", at(stored("__0_0.distcp", 0, 64, ("transform_descriptors", list_of(text("stream.zstd/1"), text("stream.zstd/1")))))),
    ("X12-not-text", 3, "an encoding that is a number", at(stored("__0_0.distcp", 0, 64, ("transform_descriptors", list_of(number(1)))))),
    ("X12-zstd", "accepted", "the known encoding", at(stored("__0_0.distcp", 0, 64, ("transform_descriptors", list_of(text("stream.zstd/1")))))),
]
