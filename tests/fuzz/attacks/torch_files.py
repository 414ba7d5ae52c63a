"""Attacks on torch files: rows P1, P5, P9, P12, P13, Z7 to Z10, Z12, X1."""
from .build import *
from .pickles import shared

TARGET = "torch_file"


def state(**tensors):
    return dict_of(*tensors.items())


def one(held=None, data=bytes(16), **view):
    return torch_file(state(w=rebuilt(held or storage(), **view)), (data,))


def object_of(value):
    return torch_file(dict_of(("o", value)), ())


ATTACKS = [
    ("P1-os-system", 5, "a call of os.system in an object", object_of(call(name("posix", "system"), text("id")))),
    ("P1-eval", 5, "a call of eval", object_of(call(name("builtins", "eval"), text("1")))),
    ("P1-eval-of-python-2", 5, "eval under its old module", object_of(call(name("__builtin__", "eval"), text("1")))),
    ("P1-getattr", 5, "getattr, through which everything is reached", object_of(call(name("builtins", "getattr"), name("os", "x"), text("system")))),
    ("P1-partial-of-system", 5, "functools.partial around os.system", object_of(call(name("functools", "partial"), name("os", "system")))),
    ("P1-subprocess", 5, "subprocess.Popen", object_of(call(name("subprocess", "Popen"), text("id")))),
    ("P1-dangerous-name-as-key", "accepted", "os.system as a dict key, which is not carried over", object_of(dict_of((name("os", "system"), NONE)))),
    ("P1-dangerous-name-in-a-state", 5, "os.system in the state of an object", object_of(name("m", "C") + b")\x81" + dict_of(("f", name("os", "system"))) + b"b")),
    ("P1-user-class", "accepted", "a class of the user's is carried over", object_of(filled(name("user", "Config"), ("a", number(1))))),
    ("P5-id-is-text", 3, "a storage id that is text", one(text("storage") + b"Q")),
    ("P5-id-of-four", 3, "a storage id of four parts", one(tuple_of(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu")) + b"Q")),
    ("P5-id-of-another-kind", 3, "an id that names no storage", one(tuple_of(text("module"), name("torch", "FloatStorage"), text("0"), text("cpu"), number(4)) + b"Q")),
    ("P5-type-is-text", 3, "a storage type that is text", one(tuple_of(text("storage"), text("FloatStorage"), text("0"), text("cpu"), number(4)) + b"Q")),
    ("P5-unknown-type", 3, "a storage type that does not exist", one(storage(kind="QUInt8Storage"))),
    ("P5-key-with-slash", 3, "a storage key with a folder", one(storage("../0"))),
    ("P5-key-parent", 3, "a storage key that is ..", one(storage(".."))),
    ("P5-key-nul", 3, "a storage key with a zero byte", one(storage("0\0"))),
    ("P5-key-empty", 3, "an empty storage key", one(storage(""))),
    ("P5-key-number", 3, "a storage key that is a number", one(storage(number(0)))),
    ("P5-numel-negative", 3, "a storage of -1 elements", one(storage(numel=-1))),
    ("P5-numel-huge", 3, "a storage of 2^62 elements", one(storage(numel=1 << 62))),
    ("P5-numel-text", 3, "a storage whose size is text", one(tuple_of(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu"), text("4")) + b"Q")),
    ("P5-location-odd", "accepted", "a device that does not exist is data", one(storage(location="../dev/sda"))),
    ("P9-laughs", 3, "a state dict that is endless when expanded", torch_file(shared(60, lambda at: b"}(X\x01\x00\x00\x00ah" + at + b"X\x01\x00\x00\x00bh" + at + b"u"), ())),
    ("P9-laughs-lists", 3, "the same of lists with a dict at the bottom", torch_file(b"}q\x00" + b"".join(b"0](h" + bytes([i]) + b"h" + bytes([i]) + b"eq" + bytes([i + 1]) for i in range(40)), ())),
    ("P9-laughs-in-an-object", "accepted", "the same in an object, which is never expanded", object_of(tuple_of(shared(60, lambda at: b"h" + at + b"h" + at + b"\x86")) )),
    ("P9-long-names", 3, "few bytes that become gigabytes of names", torch_file(b"X" + struct.pack("<I", 20000) + b"n" * 20000 + b"q\xff0" + shared(17, lambda at: b"}(h\xffh" + at + b"K\x01h" + at + b"u"), ())),
    ("P10-dicts-1200-deep", 3, "a state dict 1,200 deep", torch_file(b"}X\x01\x00\x00\x00k" * 1200 + b"}" + b"s" * 1200, ())),
    ("P12-keys-twice", "accepted", "a name twice becomes two entries", torch_file(dict_of(("w", rebuilt(storage())), ("w", rebuilt(storage()))))),
    ("P12-key-is-a-tuple", "accepted", "a key that is a tuple", torch_file(dict_of((tuple_of(number(1)), NONE)), ())),
    ("P13-dict-in-itself", 3, "a state dict that holds itself", torch_file(b"}q\x00X\x01\x00\x00\x00ah\x00s", ())),
    ("P13-list-in-itself", 3, "a list of dicts that holds itself", torch_file(dict_of(("a", b"]q\x00(}h\x00e")), ())),
    ("P13-object-in-itself", "any", "an object whose state holds it", object_of(name("m", "C") + b")\x81q\x00" + dict_of(("me", b"h\x00")) + b"b")),
    ("Z7-record-shorter", 3, "a storage record shorter than its tensor says", one(data=bytes(12))),
    ("Z7-record-longer", 3, "a storage record longer than its tensor says", one(data=bytes(20))),
    ("Z7-record-missing", 3, "a tensor whose storage is not there", one(storage("7"))),
    ("Z7-record-empty", 3, "a storage record of no bytes", one(data=b"")),
    ("Z8-offset-beyond", 3, "a view that starts behind its storage", one(offset=4)),
    ("Z8-offset-negative", 3, "a view that starts before its storage", one(offset=-1)),
    ("Z8-offset-huge", 3, "a storage offset of 2^62", one(offset=1 << 62)),
    ("Z8-offset-of-an-empty-view", "accepted", "a storage offset of 2^62 of a view without elements", one(shape=(0,), offset=1 << 62)),
    ("Z8-view-too-long", 3, "a view that ends behind its storage", one(shape=(5,))),
    ("Z8-stride-too-long", 3, "a stride that leaves the storage", one(shape=(2,), strides=(4,))),
    ("Z8-stride-wraps", 3, "a stride of 2^61 that wraps around in bytes", one(shape=(2,), strides=(1 << 61,))),
    ("Z8-strides-wrap", 3, "strides whose sum wraps around", one(shape=(3, 3), strides=(1 << 62, 1 << 62))),
    ("Z8-stride-negative", 3, "a negative stride", one(shape=(4,), strides=(-1,))),
    ("Z8-stride-missing", 3, "fewer strides than dimensions", one(shape=(2, 2), strides=(1,))),
    ("Z8-expanded", "accepted", "a stride of 0 repeats elements", one(shape=(3, 4), strides=(0, 1))),
    ("Z8-expanded-without-end", 3, "a stride of 0 makes 2^126 elements", one(shape=(1 << 62, 1 << 62, 4), strides=(0, 0, 1))),
    ("Z8-transposed", "accepted", "a transposed view", one(shape=(2, 2), strides=(1, 2))),
    ("Z8-overlapping", "accepted", "strides that overlap", one(shape=(3, 2), strides=(1, 1))),
    ("Z9-big-endian", 3, "a file of a big-endian machine", torch_file(state(w=rebuilt(storage())), order=b"big")),
    ("Z9-unknown-order", 3, "a byte order that does not exist", torch_file(state(w=rebuilt(storage())), order=b"pdp")),
    ("Z9-long-order", "any", "a byte order of 300 bytes", torch_file(state(w=rebuilt(storage())), order=b"little" * 50)),
    ("Z10-sparse", 3, "a sparse tensor", object_of(call(name("torch._utils", "_rebuild_sparse_tensor"), NONE))),
    ("Z10-quantised", 3, "a quantised tensor", one(function="_rebuild_qtensor")),
    ("Z10-nested", 3, "a nested tensor", object_of(call(name("torch._utils", "_rebuild_nested_tensor"), NONE))),
    ("Z10-meta", 3, "a tensor without data", object_of(call(name("torch._utils", "_rebuild_meta_tensor_no_storage"), NONE))),
    ("Z10-subclass", 3, "a tensor subclass", object_of(call(name("torch._tensor", "_rebuild_from_type_v2"), NONE))),
    ("Z10-too-few-arguments", 3, "a tensor rebuilt from nothing", object_of(call(name("torch._utils", "_rebuild_tensor_v2")))),
    ("Z10-parameter-in-parameter", "accepted", "a parameter around a parameter", torch_file(state(w=call(name("torch._utils", "_rebuild_parameter"), call(name("torch._utils", "_rebuild_parameter"), rebuilt(storage()), TRUE, NONE), TRUE, NONE)))),
    ("Z10-lazy-bits-odd", "any", "lazy bits that are no booleans", one(more=(dict_of(("conj", text("yes")), ("neg", number(2))),))),
    ("Z10-untyped-without-dtype", 3, "an untyped storage where the dtype is needed", one(storage(kind="UntypedStorage", numel=16))),
    ("Z10-v3-unknown-dtype", 3, "a dtype that does not exist", one(storage(kind="UntypedStorage", numel=16), function="_rebuild_tensor_v3", more=(name("torch", "float1"),))),
    ("Z11-pickle-damaged", 3, "a pickle whose checksum does not match", torch_file(state(w=rebuilt(storage())), local_crc=1, central_crc=1)),
    ("Z11-pickle-without-checksum", "accepted", "a pickle without a checksum", torch_file(state(w=rebuilt(storage())), local_crc=0, central_crc=0)),
    ("Z12-legacy-then-zip", 3, "the old form's magic number first, a zip archive behind it", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + one()),
    ("Z12-safetensors-then-zip", 3, "a safetensors header first, a zip archive behind it", struct.pack("<Q", 2) + b"{}" + one()),
    ("Z12-zip-then-pickle", 3, "a zip archive with a pickle behind it", one() + pickled(NONE)),
    ("Z12-no-data-pkl", 3, "a zip archive that torch.save did not write", archive([record("f/x", b"y")])),
    ("X1-shape-float", 3, "a shape with a float", torch_file(state(w=call(name("torch._utils", "_rebuild_tensor_v2"), storage(), number(0), tuple_of(b"G\x40\x10\x00\x00\x00\x00\x00\x00"), ints((1,)), FALSE, NONE)))),
    ("X1-shape-boolean", 3, "a shape with a boolean", torch_file(state(w=call(name("torch._utils", "_rebuild_tensor_v2"), storage(), number(0), tuple_of(TRUE), ints((1,)), FALSE, NONE)))),
    ("X1-shape-negative", 3, "a negative shape", one(shape=(-4,))),
    ("X1-65-dimensions", 3, "65 dimensions", one(shape=(1,) * 65, strides=(1,) * 65)),
    ("X1-64-dimensions", "accepted", "64 dimensions", one(shape=(1,) * 63 + (4,), strides=(1,) * 64)),
]
