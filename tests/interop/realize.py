"""Turns the descriptions of trees.py into tensors: what one rank saves, and what the whole checkpoint must become.

Contents are random bytes from the spec's seed, so that every rank and the checking process agree without talking.
"""
import functools
import math
from collections import ChainMap, OrderedDict

import torch

from trees import OnRanks, Shared, TensorSpec

# Tensors are made and cut as integers of the same size: not every dtype can be copied with strides.
INT_OF_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}


def item_size(dtype):
    return torch.empty((), dtype=dtype).element_size()


def integers(spec):
    """The whole tensor as contiguous integers of its item size."""
    dtype = getattr(torch, spec.dtype)
    size, count = item_size(dtype), math.prod(spec.shape)
    generator = torch.Generator().manual_seed(spec.seed)
    data = torch.randint(0, 2 if dtype == torch.bool else 256, (max(count, 1) * size,), dtype=torch.uint8, generator=generator)
    whole = data.view(INT_OF_SIZE[size])[:count].reshape(spec.shape)
    return whole[:1].expand(spec.shape) if spec.form == "expanded" and spec.shape[0] else whole


def strided(data, form):
    """The same values with other strides."""
    if form == "transposed" and data.dim():
        return data.transpose(0, -1).contiguous().transpose(0, -1)
    if form == "narrowed" and data.dim():
        big = torch.zeros((data.shape[0] + 3, *data.shape[1:]), dtype=data.dtype)
        big[2:-1] = data
        return big[2:-1]
    if form == "strided" and data.dim():
        big = torch.zeros((2 * data.shape[0], *data.shape[1:]), dtype=data.dtype)
        big[::2] = data
        return big[::2]
    if form == "channels_last":
        return data.contiguous(memory_format=torch.channels_last)
    return data


def finite(spec):
    generator = torch.Generator().manual_seed(spec.seed)
    return torch.randn(spec.shape, dtype=getattr(torch, spec.dtype), generator=generator)


def lazy(spec):
    """A tensor with torch's conj or neg bit set."""
    if spec.form == "conj":
        return finite(spec).conj()
    real = finite(spec)
    return torch.complex(real, real).conj().imag


def plain(spec):
    """The tensor as an ordinary one, in the form that the spec asks for."""
    if spec.form in ("conj", "neg"):
        return lazy(spec)
    tensor = strided(integers(spec), spec.form).view(getattr(torch, spec.dtype))
    return torch.nn.Parameter(tensor, requires_grad=True) if spec.form == "parameter" else tensor


def whole(spec):
    """What consolidating must give for this entry."""
    if spec.form in ("conj", "neg"):
        return lazy(spec).resolve_conj().resolve_neg().clone()
    return integers(spec).contiguous().clone().view(getattr(torch, spec.dtype))


def shared_views(base):
    return (base, base[1:], base.t())


# -- one rank's share
@functools.lru_cache(maxsize=None)
def mesh_of(shape):
    from torch.distributed.device_mesh import init_device_mesh
    return init_device_mesh("cpu", shape, mesh_dim_names=tuple("xyz"[:len(shape)]))


def placement(p):
    try:
        from torch.distributed.tensor import placement_types as t
    except ImportError:
        from torch.distributed._tensor import placement_types as t
    if p[0] == "SS":
        return t._StridedShard(p[1], split_factor=p[2])
    return t.Shard(p[1]) if p[0] == "S" else t.Replicate()


def dtensor(spec):
    try:
        from torch.distributed.tensor import DTensor
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
    except ImportError:
        from torch.distributed._tensor import DTensor
        from torch.distributed._tensor._utils import compute_local_shape_and_global_offset
    mesh = mesh_of((2, 2))["y"] if spec.stage >= 0 else mesh_of(spec.mesh)
    placements = [placement(p) for p in spec.placements]
    data = integers(spec)
    sizes, offsets = compute_local_shape_and_global_offset(torch.Size(spec.shape), mesh, placements)
    local = data
    for dim, (offset, size) in enumerate(zip(offsets, sizes)):
        local = local.narrow(dim, min(offset, data.shape[dim] - size), size)
    local = strided(local.contiguous(), spec.layout).view(getattr(torch, spec.dtype))
    stride = data.contiguous().stride()
    return DTensor.from_local(local, mesh, placements, run_check=False, shape=torch.Size(spec.shape), stride=stride)


def fsdp_chunk(spec, rank, size):
    from torch.distributed.fsdp._shard_utils import _create_chunk_sharded_tensor
    return _create_chunk_sharded_tensor(whole(spec), rank, size, size, torch.distributed.group.WORLD)


def boxes(spec, rank):
    """A ShardedTensor whose shards tile it in an irregular way; a rank may hold none or several."""
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharded_tensor import Shard, ShardedTensor
    from torch.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata, TensorProperties
    data, dtype, local, all_shards = integers(spec), getattr(torch, spec.dtype), [], []
    for owner, offsets, sizes in spec.boxes:
        shard = ShardMetadata(shard_offsets=list(offsets), shard_sizes=list(sizes), placement=f"rank:{owner}/cpu")
        all_shards.append(shard)
        if owner == rank:
            piece = data
            for dim, (offset, size) in enumerate(zip(offsets, sizes)):
                piece = piece.narrow(dim, offset, size)
            local.append(Shard(piece.contiguous().view(dtype), shard))
    properties = TensorProperties(dtype=dtype, layout=torch.strided, requires_grad=False, memory_format=torch.contiguous_format, pin_memory=False)
    metadata = ShardedTensorMetadata(all_shards, torch.Size(spec.shape), properties)
    return ShardedTensor._init_from_local_shards_and_global_metadata(local, metadata, process_group=torch.distributed.group.WORLD)


def local_tensor(spec, rank, size):
    if spec.form == "dtensor":
        return dtensor(spec)
    if spec.form == "fsdp":
        return fsdp_chunk(spec, rank, size)
    if spec.form == "boxes":
        return boxes(spec, rank)
    return plain(spec)


# -- whole trees
def build(node, tensor, in_object=False):
    """The tree with `tensor(spec)` for each tensor entry; inside objects tensors are ordinary ones."""
    if isinstance(node, TensorSpec):
        return plain(node) if in_object else tensor(node)
    if isinstance(node, Shared):
        return shared_views(plain(node.base))
    if isinstance(node, (dict, OrderedDict)) and type(node) in (dict, OrderedDict):
        return type(node)((k, build(v, tensor, in_object)) for k, v in node.items())
    if type(node) is list:
        done = {}  # a list that occurs twice in a tuple stays one list
        return [done.setdefault(id(v), build(v, tensor, in_object)) for v in node]
    if type(node) is tuple:
        done = {}
        return tuple(done.setdefault(id(v), build(v, tensor, True)) for v in node)
    return node


def rank_view(case, rank):
    """The part of the tree that `rank` has."""
    held = {}
    for key, value in case.tree.items():
        if not isinstance(value, OnRanks):
            held[key] = value
        elif rank in value.ranks:
            held[key] = value.value
    return held


def what_rank_saves(case, rank, size):
    objects = case.options["unflattened"]
    view = rank_view(case, rank)
    return {k: build(v, lambda s: local_tensor(s, rank, size), objects and not isinstance(v, TensorSpec)) for k, v in view.items()}


def flatten(tree, old):
    """torch's own flattening: flat key -> value, flat key -> path; ValueError when two keys coincide."""
    from torch.distributed.checkpoint import _nested_dict
    try:
        from torch.distributed.checkpoint import _version
    except ImportError:
        return _nested_dict.flatten_state_dict(tree)
    _version._derived_version = "2_3" if old else None
    try:
        return _nested_dict.flatten_state_dict(tree)
    finally:
        _version._derived_version = None


def expected(case):
    """The state dict that consolidating this case must give, in order."""
    if case.options["unflattened"]:
        tree = second_flattening({k: build(v, whole, not isinstance(v, TensorSpec)) for k, v in case.tree.items()})
    else:
        tree = unflattened(case)
        repair(tree)
    tree.update(expected_meta(case))
    return tree


def unflattened(case):
    from torch.distributed.checkpoint._nested_dict import unflatten_state_dict
    values, paths = {}, []
    for rank in range(case.world):
        flat, path = flatten(build(rank_view(case, rank), whole), case.options["old_flattening"])
        values = {**flat, **values}
        paths.append(path)
    merged = dict(ChainMap(*paths))
    reject_ambiguous(merged.values())
    return unflatten_state_dict({k: values[k] for k in merged}, merged)


def second_flattening(tree):
    """The planner's own pass over nested ShardedTensors: it also drops empty dicts and makes keys text."""
    from torch.distributed.checkpoint._sharded_tensor_utils import _flatten_sharded_tensors
    flat, paths = flatten(tree, False)
    reject_ambiguous(paths.values())
    return _flatten_sharded_tensors(tree)


def reject_ambiguous(paths):
    """Keys 1 and '1' in one dict become the same key; torch has no answer when they hold different things."""
    kind = {}
    for path in paths:
        for i in range(len(path) + 1):
            step = type(path[i]) if i < len(path) else "leaf"
            if kind.setdefault(path[:i], step) != step:
                raise ValueError(f"{path[:i]} is both {kind[path[:i]]} and {step}")


def expected_meta(case):
    return build(case.meta or {}, plain, True)


def insert_before(node, place, key, value):
    """torch's optimizers have `state` before `param_groups`."""
    items = list(node.items())
    at = [name for name, _ in items].index(place)
    node.clear()
    node.update(items[:at] + [(key, value)] + items[at:])
    return value


def repair(node):
    """What consolidation gives back that torch's flattening lost of an optimizer: integer ids, and an empty state."""
    if isinstance(node, list):
        for value in node:
            repair(value)
    if not isinstance(node, dict):
        return
    for value in list(node.values()):
        repair(value)
    groups = node.get("param_groups")
    if isinstance(groups, list) and groups and all(isinstance(g, dict) and "params" in g for g in groups):
        ids = [p for g in groups for p in g["params"]]
        state = node["state"] if "state" in node else insert_before(node, "param_groups", "state", {})
        if ids and all(type(p) is int for p in ids):
            renamed = {int(k) if isinstance(k, str) and k.isdigit() else k: v for k, v in state.items()}
            state.clear()
            state.update(renamed)
