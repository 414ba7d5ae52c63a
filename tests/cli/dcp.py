"""Writes small DCP directories without PyTorch: stand-ins of its classes, pickled under its names."""
import io
import os
import pickle
import struct
import sys
import types
import zipfile

META = "torch.distributed.checkpoint.metadata"
FILES = "torch.distributed.checkpoint.filesystem"


def stand_in(module, name, base=object, **members):
    """A class (or what `members` make of it) that pickle takes for module.name."""
    made = type(name, (base,), {"__module__": module, **members})
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, made)
    return made


def function(module, name):
    def made(*_):
        raise AssertionError("never called")
    made.__module__, made.__qualname__, made.__name__ = module, name, name
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, made)
    return made


class Call:
    """Pickled as the call of a function, which is never made here."""

    def __init__(self, called, *arguments):
        self.called, self.arguments = called, arguments

    def __reduce__(self):
        return self.called, self.arguments


def real_function(module, name):
    """As function(), for modules that the tests themselves need: torch_zip() pickles it under their name."""
    return function(STAND_IN + module, name)


STAND_IN = "stand_in_"


class Global:
    """Pickled as the name of a global."""

    def __init__(self, module, name):
        self.__module__, self.name = module, name
        sys.modules.setdefault(module, types.ModuleType(module))
        setattr(sys.modules[module], name, self)

    def __reduce__(self):
        return self.name


Size = stand_in("torch", "Size", tuple, __reduce__=lambda self: (type(self), (tuple(self),)))
FLOAT32 = Global("torch", "float32")
FloatStorage = stand_in("torch", "FloatStorage")
rebuild = function("torch._utils", "_rebuild_tensor_v2")
layout = function("torch.serialization", "_get_layout")
memory_format = function(META, "_MEM_FORMAT_ENCODING")
PROPERTIES = (FLOAT32, Call(layout, "torch.strided"), False, Call(memory_format, 0), False)
TensorProperties = stand_in(META, "TensorProperties", __getstate__=lambda self: PROPERTIES)
Metadata, TensorStorageMetadata, ChunkStorageMetadata, BytesStorageMetadata, MetadataIndex = (
    stand_in(META, name) for name in ("Metadata", "TensorStorageMetadata", "ChunkStorageMetadata",
                                      "BytesStorageMetadata", "MetadataIndex"))
StorageInfo = stand_in(FILES, "_StorageInfo", __hash__=lambda self: id(self))


def filled(kind, **fields):
    made = kind()
    made.__dict__.update(fields)
    return made


class Storage:
    def __init__(self, numel):
        self.numel = numel


class TorchPickler(pickle.Pickler):
    def persistent_id(self, value):
        if isinstance(value, Storage):
            return "storage", FloatStorage, "0", "cpu", value.numel
        return None


def torch_zip(value, data=None):
    """What torch.save writes for `value`; `data` are the bytes of its only storage."""
    pickled, archive = io.BytesIO(), io.BytesIO()
    TorchPickler(pickled, 2).dump(value)
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("archive/data.pkl", pickled.getvalue().replace(b"c" + STAND_IN.encode(), b"c"))
        target.writestr("archive/byteorder", "little")
        if data is not None:
            target.writestr("archive/data/0", data)
        target.writestr("archive/version", "3\n")
    return archive.getvalue()


def tensor_zip(sizes, data):
    numel = len(data) // 4
    strides = tuple(int(numel_of(sizes[i + 1:])) for i in range(len(sizes)))
    return torch_zip(Call(rebuild, Storage(numel), 0, tuple(sizes), strides, False, {}), data)


def numel_of(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def write_with_holes(target, content, block=1 << 20):
    """Zeros take no space on the disk."""
    for at in range(0, len(content), block):
        part = content[at:at + block]
        if part.count(0) == len(part):
            target.seek(len(part), os.SEEK_CUR)
        else:
            target.write(part)
    target.truncate(len(content))


class Directory:
    """A DCP directory in the making: add entries, then save()."""

    def __init__(self, path):
        self.path = str(path)
        self.state, self.storage, self.paths, self.files = {}, {}, {}, {}
        self.fields = {}  # more of Metadata

    def tensor(self, name, shape, chunks, path=None):
        """`chunks`: (offsets, sizes, file name, bytes or None for zeros)."""
        self.list(name, shape, [chunk[:2] for chunk in chunks], path)
        for offsets, sizes, file, data in chunks:
            self.store(name, Size(offsets), file, tensor_zip(sizes, bytes(4 * numel_of(sizes)) if data is None else data))

    def list(self, name, shape, boxes, path=None):
        chunks = [filled(ChunkStorageMetadata, offsets=Size(offsets), sizes=Size(sizes)) for offsets, sizes in boxes]
        self.state[name] = filled(TensorStorageMetadata, properties=TensorProperties(), size=Size(shape), chunks=chunks)
        self.paths[name] = path or (name,)

    def object(self, name, value, file="__0_0.distcp", path=None):
        self.store(name, None, file, torch_zip(value))
        self.state[name] = BytesStorageMetadata()
        self.paths[name] = path or (name,)

    def store(self, name, offset, file, item):
        content = self.files.get(file, b"")
        index = filled(MetadataIndex, fqn=name, offset=offset, index=None)
        self.storage[index] = filled(StorageInfo, relative_path=file, offset=len(content), length=len(item))
        self.files[file] = content + item if content else item

    def save(self):
        os.makedirs(self.path, exist_ok=True)
        metadata = filled(Metadata, state_dict_metadata=self.state, planner_data=self.paths, storage_data=self.storage,
                          **self.fields)
        with open(os.path.join(self.path, ".metadata"), "wb") as target:
            target.write(pickle.dumps(metadata, 4))
        for name, content in self.files.items():
            with open(os.path.join(self.path, name), "wb") as target:
                write_with_holes(target, content)
        return self.path


def small(path, ranks=2):
    """model.w [4, 3] in two chunks, model.b [2], and the object step."""
    made = Directory(path)
    made.tensor("model.w", (4, 3), [((0, 0), (2, 3), "__0_0.distcp", floats(*range(6))),
                                    ((2, 0), (2, 3), f"__{ranks - 1}_0.distcp", floats(*range(6, 12)))], ("model", "w"))
    made.tensor("model.b", (2,), [((0,), (2,), "__0_0.distcp", floats(1, 2))], ("model", "b"))
    made.object("step", 7)
    return made


def big(path, megabytes, ranks=8):
    """Tensors of zeros, one a rank, that many MiB together."""
    made = Directory(path)
    sizes = (megabytes // ranks, 1 << 18)
    item = tensor_zip(sizes, bytes(4 * numel_of(sizes)))
    for rank in range(ranks):
        made.list(f"w{rank}", sizes, [((0, 0), sizes)])
        made.store(f"w{rank}", Size((0, 0)), f"__{rank}_0.distcp", item)
    return made
