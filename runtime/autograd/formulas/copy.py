"""Gradients of what puts tensors together, repeats, turns and pads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

_at = tuple.__getitem__  # a Size's own indexing runs in Python


def cat_backward(grad: Tensor, sizes: Sequence[tuple[int, ...]], dim: int) -> list[Tensor]:
    """Each tensor gets its part of the gradient; one of shape (0,) nothing."""
    pieces, start = [], 0
    for each in sizes:
        if each == (0,):
            pieces.append(grad.new_zeros((0,)))
            continue
        length = _at(each, dim)
        pieces.append(ops.narrow(grad, dim, start, length))
        start += length
    return pieces


def put_slice_backward(grad: Tensor, sizes: Sequence[int], dim: int, start: int) -> Tensor:
    """The slice again."""
    if len(sizes) < len(grad._sizes):
        return grad.select(dim, start)
    return grad.narrow(dim, start, sizes[dim])


def roll_backward(grad: Tensor, shifts: Any, dims: Any) -> Tensor:
    """Roll back."""
    back = [-shift for shift in shifts] if isinstance(shifts, (tuple, list)) else -shifts
    return grad.roll(back, dims)


def repeat_backward(grad: Tensor, repeats: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Add up the copies."""
    if 0 in repeats:
        return grad.new_zeros(sizes)
    missing = len(repeats) - len(sizes)
    padded = (1,) * missing + tuple(sizes)
    apart = [n for pair in zip(repeats, padded, strict=True) for n in pair]
    copies = list(range(0, len(apart), 2))
    summed = grad.reshape(apart).sum(copies) if copies else grad
    return summed.reshape(sizes)


def repeat_interleave_backward(
    grad: Tensor, sizes: Sequence[int], repeats: int, dim: int | None
) -> Tensor:
    """Add up the neighbours that are copies of one element."""
    at = len(sizes) if dim is None else dim % max(len(sizes), 1) + 1
    apart = grad.reshape((*sizes[:at], repeats, *sizes[at:]))
    return apart.sum(at)


def opposite(numbers: Sequence[int]) -> list[int]:
    """The numbers negated: the padding that undoes a padding."""
    return [-number for number in numbers]


def circular_pad_backward(grad: Tensor, sizes: Sequence[int], pad: Sequence[int]) -> Tensor:
    """What stands before and behind is added to the elements at the other side, dim by dim."""
    for i in range(0, len(pad), 2):
        dim, before, after = len(sizes) - 1 - i // 2, pad[i], pad[i + 1]
        size, given = sizes[dim], grad
        grad = given.narrow(dim, before, size) if before or after else given
        zeros = [0] * i
        if before:
            first = given.narrow(dim, 0, before)
            grad = grad + ops.constant_pad_nd(first, [*zeros, size - before, 0], 0)
        if after:
            last = given.narrow(dim, before + size, after)
            grad = grad + ops.constant_pad_nd(last, [*zeros, 0, size - after], 0)
    return grad
