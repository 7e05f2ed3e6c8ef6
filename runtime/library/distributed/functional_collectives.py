"""`torch.distributed._functional_collectives`: collectives that return new tensors.

They have gradients, by the same operators as `distributed.nn.functional`. A result is there when
the function returns, so `wait_tensor` has nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.distributed import carrying, world

__all__ = [
    "all_gather_tensor", "all_gather_tensor_autograd", "all_reduce",
    "all_to_all_single", "all_to_all_single_autograd", "broadcast", "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd", "wait_tensor",
]  # fmt: skip


def _named(group: Any) -> tuple[str, int]:
    """Name and size of a group, which may be given by its name."""
    found = world.by_name(group) if isinstance(group, str) else world.resolve(group)
    return carrying.name_of(found), found.size()


def wait_tensor(tensor: Any) -> Any:
    """Return the tensor."""
    return tensor


def all_reduce(self: Any, reduceOp: str, group: Any, tag: str = "") -> Any:
    """Return the reduction of all ranks' tensors: "sum", "avg", "max", ..."""
    return ops._c10d_all_reduce(self, carrying.word_of(reduceOp), _named(group)[0])


def broadcast(self: Any, src: int, group: Any, tag: str = "") -> Any:
    """Return the tensor of rank `src` of the group."""
    return ops._c10d_broadcast(self, src, _named(group)[0])


def all_gather_tensor(self: Any, gather_dim: int, group: Any, tag: str = "") -> Any:
    """Return all ranks' tensors, joined along a dim."""
    name, size = _named(group)
    whole = ops._c10d_all_gather_into_tensor(self, size, name)
    return whole if gather_dim == 0 else torch.cat(whole.chunk(size), gather_dim)


def reduce_scatter_tensor(
    self: Any, reduceOp: str, scatter_dim: int, group: Any, tag: str = ""
) -> Any:
    """Return this rank's part, along a dim, of the reduction of all ranks' tensors.

    **Raises** ValueError if the dim does not split evenly.
    """
    name, size = _named(group)
    if self.shape[scatter_dim] % size:
        raise ValueError(
            f"input dimension {scatter_dim} ({self.shape[scatter_dim]} must be a multiple of "
            f"group_size {size})"
        )
    rows = self if scatter_dim == 0 else torch.cat(self.chunk(size, scatter_dim))
    return ops._c10d_reduce_scatter_tensor(rows, carrying.word_of(reduceOp), size, name)


def all_to_all_single(
    self: Any,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any,
    tag: str = "",
) -> Any:
    """Return the rows that all ranks have for this rank."""
    name, _ = _named(group)
    return ops._c10d_all_to_all_single(
        self, output_split_sizes or [], input_split_sizes or [], name
    )


all_gather_tensor_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single
