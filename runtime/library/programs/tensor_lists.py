"""`torch._utils`: lists of tensors as one vector, and what else programs take from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.programs.torch_names import classproperty

__all__ = [
    "_element_size", "_flatten_dense_tensors", "_get_available_device_type", "_get_device_index",
    "_reorder_tensors_as", "_take_tensors", "_unflatten_dense_tensors", "classproperty",
]  # fmt: skip


def _flatten_dense_tensors(tensors: Iterable[Any]) -> Any:
    """Return the elements of tensors of one dtype as a vector, one tensor behind the other."""
    return torch.cat([each.reshape(-1) for each in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return the parts of a vector as views with the shapes of `tensors`."""
    parts = flat.split([each.numel() for each in tensors])
    return tuple(part.view(each.shape) for part, each in zip(parts, tensors, strict=True))


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterator[list[Any]]:
    """Yield groups of tensors of one type that have up to `size_limit` bytes together."""
    groups: dict[str, tuple[list[Any], int]] = {}
    for each in tensors:
        size, kind = each.numel() * each.element_size(), each.type()
        members, total = groups.get(kind, ([], 0))
        if members and total + size > size_limit:
            yield members
            members, total = [], 0
        groups[kind] = [*members, each], total + size
    yield from (members for members, _ in groups.values() if members)


def _reorder_tensors_as(tensors: Iterable[Any], ordered_tensors: Iterable[Any]) -> tuple[Any, ...]:
    """Return tensors, of each type in order, in the order of the types of `ordered_tensors`."""
    queues: dict[str, list[Any]] = {}
    for each in tensors:
        queues.setdefault(each.type(), []).append(each)
    return tuple(queues[each.type()].pop(0) for each in ordered_tensors)


def _element_size(dtype: Any) -> int:
    """Return the bytes of an element."""
    return int(dtype.itemsize)


def _get_available_device_type() -> str | None:
    """Return "cuda" where there is a GPU, else None."""
    return "cuda" if torch.cuda.is_available() else None


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device: -1 for the CPU, and the present GPU's for None.

    **Raises** ValueError for None unless it is `optional`, and for the CPU unless `allow_cpu`.
    """
    if isinstance(device, int):
        return device
    if device is None:
        if not optional:
            raise ValueError(
                f"Expected a torch.device with a specified index or an integer, but got:{device}"
            )
        return torch.cuda.current_device() if torch.cuda.is_available() else -1
    found = torch.device(device)
    if found.type == "cpu" and not allow_cpu:
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    if found.index is not None:
        return found.index
    return -1 if found.type == "cpu" else torch.cuda.current_device()
