"""Collectives with gradients: what a rank has put in gets what it has done to all results.

The gradient of a sum over ranks is the sum of the ranks' gradients, that of a broadcast their sum
on the source, and those of gathering, scattering and exchanging are each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributed import collectives, world
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
    "reduce_scatter", "scatter",
]  # fmt: skip


class _AllReduce(torch.autograd.Function):
    """The sum of all ranks' tensors; the gradient is the sum of all ranks' gradients."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, op: Any, group: Any) -> Any:
        ctx.op, ctx.group = op, group
        result = tensor.detach().clone(memory_format=torch.contiguous_format)
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllReduce.apply(grad, ctx.op, ctx.group), None, None


class _Reduce(torch.autograd.Function):
    """The sum on one rank; its gradient goes to all."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, dst: int, op: Any, group: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        result = tensor.detach().clone(memory_format=torch.contiguous_format)
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Broadcast.apply(grad, ctx.dst, ctx.group), None, None, None


class _Broadcast(torch.autograd.Function):
    """The tensor of one rank; the sum of all gradients goes there, zero to the others."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, src: int, group: Any) -> Any:
        ctx.src, ctx.group = src, group
        result = tensor.detach().clone(memory_format=torch.contiguous_format)
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        total = _Reduce.apply(grad, ctx.src, ReduceOp.SUM, ctx.group)
        if world.get_rank() != ctx.src:
            total = torch.zeros_like(total)
        return total, None, None


class _AllGather(torch.autograd.Function):
    """All ranks' tensors, stacked; each gets the sum of the gradients of its part."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, group: Any) -> Any:
        ctx.group = group
        result = tensor.new_empty((world.get_world_size(group), *tensor.shape))
        collectives.all_gather_into_tensor(result, tensor.detach(), group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _ReduceScatter.apply(grad, ReduceOp.SUM, ctx.group), None


class _ReduceScatter(torch.autograd.Function):
    """The sum of all ranks' parts for this rank; the parts get the gradients of their ranks."""

    @staticmethod
    def forward(ctx: Any, stacked: Any, op: Any, group: Any) -> Any:
        ctx.group = group
        result = stacked.new_empty(stacked.shape[1:])
        collectives.reduce_scatter_tensor(result, stacked.detach(), op, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllGather.apply(grad, ctx.group), None, None


class _AllToAll(torch.autograd.Function):
    """Rows exchanged; their gradients go back the same way."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, out_splits: Any, in_splits: Any, group: Any) -> Any:
        ctx.splits, ctx.group = (in_splits, out_splits), group
        rows = sum(out_splits) if out_splits else tensor.shape[0]
        result = tensor.new_empty((rows, *tensor.shape[1:]))
        collectives.all_to_all_single(result, tensor.detach(), out_splits, in_splits, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _AllToAll.apply(grad, *ctx.splits, ctx.group), None, None, None


class _Gather(torch.autograd.Function):
    """All ranks' tensors, stacked on one rank, zeros elsewhere; each gets its part's gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, dst: int, group: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        result = tensor.new_zeros((world.get_world_size(group), *tensor.shape))
        is_target = world.get_rank() == dst
        parts = list(result.unbind(0)) if is_target else None
        collectives.gather(tensor.detach(), parts, dst, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Scatter.apply(grad, ctx.dst, ctx.group), None, None


class _Scatter(torch.autograd.Function):
    """The part of one rank's stack that is for this rank; its gradient goes there."""

    @staticmethod
    def forward(ctx: Any, stacked: Any, src: int, group: Any) -> Any:
        ctx.src, ctx.group = src, group
        result = stacked.new_empty(stacked.shape[1:])
        parts = list(stacked.detach().unbind(0)) if world.get_rank() == src else None
        collectives.scatter(result, parts, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return _Gather.apply(grad, ctx.src, ctx.group), None, None


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum of all ranks' tensors. **Raises** RuntimeError for another operation."""
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise RuntimeError(f"all_reduce: {op} has no derivative here, only SUM and AVG")
    return _AllReduce.apply(tensor, op, group)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Return the sum of all ranks' tensors on rank `dst`; elsewhere the tensor itself."""
    if op != ReduceOp.SUM:
        raise RuntimeError(f"reduce: {op} has no derivative here, only SUM")
    return _Reduce.apply(tensor, dst, op, group)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """Return the tensor of rank `src`."""
    return _Broadcast.apply(tensor, src, group)


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks."""
    return tuple(_AllGather.apply(tensor, group).unbind(0))


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """Return the tensors of all ranks on rank `dst`; zeros elsewhere."""
    return tuple(_Gather.apply(tensor, dst, group).unbind(0))


def scatter(tensors: Sequence[Any], src: int = 0, group: Any = None) -> Any:
    """Return the tensor that rank `src` has for this rank."""
    return _Scatter.apply(torch.stack(tuple(tensors)), src, group)


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: Any = ReduceOp.SUM, group: Any = None
) -> Any:
    """Return the sum of the tensors that all ranks have for this rank. output: its shape."""
    if op != ReduceOp.SUM:
        raise RuntimeError(f"reduce_scatter: {op} has no derivative here, only SUM")
    return _ReduceScatter.apply(torch.stack(tuple(input_list)), op, group)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Any:
    """Return the rows that all ranks have for this rank. output: its shape."""
    return _AllToAll.apply(input, output_split_sizes, input_split_sizes, group)


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None
) -> tuple[Any, ...]:
    """Return the tensors that all ranks have for this rank. output_tensor_list: their shapes."""
    sizes = [each.numel() for each in output_tensor_list]
    flat = torch.cat([each.reshape(-1) for each in input_tensor_list])
    own = [each.numel() for each in input_tensor_list]
    pieces = _AllToAll.apply(flat, sizes, own, group).split(sizes)
    return tuple(
        piece.view(each.shape) for piece, each in zip(pieces, output_tensor_list, strict=True)
    )
