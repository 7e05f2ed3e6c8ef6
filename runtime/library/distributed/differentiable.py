"""`torch.distributed.nn.functional`: collectives with gradients, by operators of the library.

The operators and their derivatives are entries of the YAML files (`_c10d_all_reduce` and so on):
what a rank has put in gets what it has done to all ranks' results. A loss that all ranks compute
alike counts once for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.distributed import carrying, world
from torchgen_out._runtime.library.distributed.collectives import root
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
    "reduce_scatter", "scatter",
]  # fmt: skip


def _linear(name: str, op: Any, *known: str) -> str:
    """The word for an operation. **Raises** RuntimeError for one without a derivative."""
    word = carrying.word_of(op)
    if word not in known:
        raise RuntimeError(f"{name}: {op} has no derivative, only {' and '.join(known)}")
    return word


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum, or average, of all ranks' tensors. **Raises** RuntimeError for others."""
    word = _linear("all_reduce", op, "sum", "avg")
    return ops._c10d_all_reduce(tensor, word, carrying.name_of(group))


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum of all ranks' tensors on global rank `dst`; zeros elsewhere."""
    word = _linear("reduce", op, "sum")
    return ops._c10d_reduce(tensor, word, root(group, dst, None), carrying.name_of(group))


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """Return the tensor of global rank `src`."""
    return ops._c10d_broadcast(tensor, root(group, src, None), carrying.name_of(group))


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks."""
    size = world.get_world_size(group)
    whole = ops._c10d_all_gather_into_tensor(tensor, size, carrying.name_of(group))
    return _unstacked(whole, size, tensor)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks on global rank `dst`; zeros elsewhere."""
    size, name = world.get_world_size(group), carrying.name_of(group)
    whole = ops._c10d_gather(tensor, root(group, dst, None), size, name)
    return _unstacked(whole, size, tensor)


def scatter(tensors: Sequence[Any], src: int = 0, group: Any = None) -> Any:
    """Return the tensor that global rank `src` has for this rank."""
    stacked, size = torch.stack(tuple(tensors)), world.get_world_size(group)
    name = carrying.name_of(group)
    return ops._c10d_scatter(stacked, root(group, src, None), size, name).squeeze(0)


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: Any = None
) -> Any:
    """Return the sum, or average, of the tensors that all ranks have for this one.

    output: its shape.
    """
    word, size = _linear("reduce_scatter", op, "sum", "avg"), world.get_world_size(group)
    stacked, name = torch.stack(tuple(input_list)), carrying.name_of(group)
    return ops._c10d_reduce_scatter_tensor(stacked, word, size, name).squeeze(0)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Any:
    """Return the rows that all ranks have for this rank. output: its shape."""
    return ops._c10d_all_to_all_single(
        input, output_split_sizes or [], input_split_sizes or [], carrying.name_of(group)
    )


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None
) -> tuple[Any, ...]:
    """Return the tensors that all ranks have for this rank. output_tensor_list: their shapes."""
    sizes = [each.numel() for each in output_tensor_list]
    flat = torch.cat([each.reshape(-1) for each in input_tensor_list])
    own = [each.numel() for each in input_tensor_list]
    came = ops._c10d_all_to_all_single(flat, sizes, own, carrying.name_of(group)).split(sizes)
    return tuple(
        piece.view(each.shape) for piece, each in zip(came, output_tensor_list, strict=True)
    )


def _unstacked(whole: Any, size: int, like: Any) -> tuple[Any, ...]:
    return tuple(whole.reshape(size, *like.shape).unbind(0))
