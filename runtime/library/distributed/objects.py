"""Python objects between ranks, as pickles: **they run code of whoever sent them**.

Only these functions execute anything that comes from another rank, and only the user's call of one
makes them: use them among processes that you trust, and tensors everywhere else.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.library.distributed import collectives, point_to_point, world
from torchgen_out._runtime.library.distributed.collectives import outside, root

_TRUST = (
    "\n\n    The objects are pickles: whoever sends one runs code here. Trust the others.\n    "
)


def _packed(obj: Any) -> Any:
    """An object's pickle as a tensor of bytes."""
    return torch.from_numpy(np.frombuffer(bytearray(pickle.dumps(obj)), np.uint8))


def _unpacked(data: Any, size: int) -> Any:
    return pickle.loads(data[:size].numpy().tobytes())


def _sizes(count: int) -> Any:
    return torch.empty(count, dtype=torch.int64)


def _bytes(count: int) -> Any:
    return torch.empty(count, dtype=torch.uint8)


def _all_sizes(data: Any, group: Any) -> list[int]:
    sizes = _sizes(world.get_world_size(group))
    collectives.all_gather_into_tensor(sizes, torch.tensor([data.numel()]), group)
    return [int(size) for size in sizes.tolist()]


def _padded(data: Any, size: int) -> Any:
    padded = torch.zeros(size, dtype=torch.uint8)
    padded[: data.numel()] = data
    return padded


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Let object_list[r] be a copy of rank r's `obj`."""
    if outside("all_gather_object", group):
        return
    data = _packed(obj)
    sizes = _all_sizes(data, group)
    outs = [_bytes(max(sizes)) for _ in sizes]
    collectives.all_gather(outs, _padded(data, max(sizes)), group)
    for rank, (out, size) in enumerate(zip(outs, sizes, strict=True)):
        object_list[rank] = _unpacked(out, size)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Let object_gather_list[r] on rank `dst` (0 if not given) be a copy of rank r's `obj`."""
    if outside("gather_object", group):
        return
    own = world.resolve(group)
    target = root(own, dst, group_dst, 0)
    is_target = own.rank() == target
    if is_target and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    data = _packed(obj)
    sizes = _all_sizes(data, group)
    outs = [_bytes(max(sizes)) for _ in sizes] if is_target else None
    collectives.gather(_padded(data, max(sizes)), outs, group=group, group_dst=target)
    for rank in range(len(sizes)) if is_target else ():
        assert outs is not None and object_gather_list is not None
        object_gather_list[rank] = _unpacked(outs[rank], sizes[rank])


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Let all ranks' lists hold copies of the objects of rank `src` (0 if not given)."""
    if outside("broadcast_object_list", group):
        return
    own = world.resolve(group)
    source = root(own, src, group_src, 0)
    sizes, datas = _sizes(len(object_list)), []
    if own.rank() == source:
        datas = [_packed(obj) for obj in object_list]
        sizes = torch.tensor([data.numel() for data in datas], dtype=torch.int64)
    collectives.broadcast(sizes, group=group, group_src=source)
    whole = torch.cat(datas) if datas else _bytes(int(sizes.sum()))
    collectives.broadcast(whole, group=group, group_src=source)
    if own.rank() != source:
        for i, (data, size) in enumerate(zip(whole.split(sizes.tolist()), sizes, strict=True)):
            object_list[i] = _unpacked(data, int(size))


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Let scatter_object_output_list[0] on rank r be a copy of object r of rank `src`."""
    if outside("scatter_object_list", group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    own = world.resolve(group)
    source = root(own, src, group_src, 0)
    count, parts = own.size(), None
    sizes = _sizes(count)
    if own.rank() == source:
        if scatter_object_input_list is None or len(scatter_object_input_list) != count:
            raise ValueError(f"scatter_object_list: {count} objects are needed on the source rank")
        datas = [_packed(obj) for obj in scatter_object_input_list]
        sizes = torch.tensor([data.numel() for data in datas], dtype=torch.int64)
        parts = [_padded(data, int(sizes.max())) for data in datas]
    collectives.broadcast(sizes, group=group, group_src=source)
    own_data = _bytes(int(sizes.max()))
    collectives.scatter(own_data, parts, group=group, group_src=source)
    scatter_object_output_list[0] = _unpacked(own_data, int(sizes[own.rank()]))


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send copies of objects to a rank."""
    if outside("send_object_list", group):
        return
    datas = [_packed(obj) for obj in object_list]
    sizes = torch.tensor([data.numel() for data in datas], dtype=torch.int64)
    point_to_point.send(sizes, dst, group, group_dst=group_dst)
    point_to_point.send(torch.cat(datas), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Let a list hold copies of the objects that a rank sends; return the rank."""
    if outside("recv_object_list", group):
        return -1
    sizes = _sizes(len(object_list))
    rank = point_to_point.recv(sizes, src, group, group_src=group_src)
    whole = _bytes(int(sizes.sum()))
    point_to_point.recv(whole, rank, group)
    for i, (data, size) in enumerate(zip(whole.split(sizes.tolist()), sizes, strict=True)):
        object_list[i] = _unpacked(data, int(size))
    return rank


for _each in (
    all_gather_object,
    gather_object,
    broadcast_object_list,
    scatter_object_list,
    send_object_list,
    recv_object_list,
):
    _each.__doc__ = (_each.__doc__ or "").rstrip() + _TRUST
