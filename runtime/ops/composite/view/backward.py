"""Gradients of views: zeros of the input's shape, with the gradient written through the same view.

Every body is made of public operators, so each gradient can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import ops


def permute_backward(grad: Any, dims: Sequence[int]) -> Any:
    """The gradient of `permute`: the inverse permutation."""
    inverse = [0] * len(dims)
    for place, dim in enumerate(dims):
        inverse[dim] = place
    return grad.permute(inverse)


def select_backward(grad_output: Any, input_sizes: Sequence[int], dim: int, index: int) -> Any:
    """The gradient of `select`."""
    sizes = list(input_sizes)
    count = sizes.pop(normalize_dim(dim, len(sizes)))
    if not -count <= index < count:
        raise errors.int_out_of_bounds(index, dim, count)
    return ops._put_slice(_of_sizes(grad_output, sizes), input_sizes, dim, index)


def _of_sizes(grad: Any, sizes: list[int]) -> Any:
    return grad if list(grad.shape) == sizes else grad.expand(sizes)


def slice_backward(
    grad_output: Any,
    input_sizes: Sequence[int],
    dim: int,
    start: int | None,
    end: int | None,
    step: int,
) -> Any:
    """The gradient of `slice`."""
    if step == 1:
        first, last, _ = slice(start, end).indices(input_sizes[dim])
        sizes = list(input_sizes)
        sizes[dim] = max(last - first, 0)
        return ops._put_slice(_of_sizes(grad_output, sizes), input_sizes, dim, first)
    grad_input = grad_output.new_zeros(input_sizes)
    ops.slice(grad_input, dim, start, end, step).copy_(grad_output)
    return grad_input


def diagonal_backward(
    grad_output: Any, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> Any:
    """The gradient of `diagonal`."""
    grad_input = grad_output.new_zeros(input_sizes)
    grad_input.diagonal(offset, dim1, dim2).copy_(grad_output)
    return grad_input


def unfold_backward(
    grad_in: Any, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    """The gradient of `unfold`: an element gets the sum over the windows it lies in."""
    if not input_sizes:
        return grad_in.sum()
    if size <= step:
        grad_input = grad_in.new_zeros(input_sizes)
        grad_input.unfold(dim, size, step).copy_(grad_in)
        return grad_input
    dim %= len(input_sizes)
    is_last = dim == len(input_sizes) - 1
    windows = grad_in if is_last else grad_in.movedim(-1, dim + 1)
    sizes = windows.shape
    rows = windows.reshape((*sizes[: dim + 2], prod(sizes[dim + 2 :])))
    return ops._fold_windows(rows, input_sizes[dim], step).reshape(tuple(input_sizes))


def as_strided_backward(
    grad: Any,
    input_sizes: Sequence[int],
    input_strides: Sequence[int],
    input_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Any:
    """The gradient of `as_strided`: added up per storage element, then read as the input.

    Where several elements of the input share memory, each gets an equal part.
    """
    offset = input_offset if storage_offset is None else storage_offset
    if 0 in size or 0 in input_sizes:
        return grad.new_zeros(input_sizes)
    start = min(offset, input_offset)
    extent = 1 + max(
        offset - start + _reach(size, stride),
        input_offset - start + _reach(input_sizes, input_strides),
    )
    is_shared = _overlaps(size, stride) or _overlaps(input_sizes, input_strides)
    if not (is_shared or grad._key & keys.NOT_HERE):
        zeros = grad.new_zeros((extent,))
        memory = ops.as_strided_scatter(zeros, grad, size, stride, offset - start)
        return memory.as_strided(input_sizes, input_strides, input_offset - start)
    positions = ops.arange(extent, device=grad.device)
    written = positions.as_strided(size, stride, offset - start).reshape(-1)
    memory = grad.new_zeros((extent,)).index_add(0, written, grad.reshape(-1))
    read = positions.as_strided(input_sizes, input_strides, input_offset - start)
    if _overlaps(input_sizes, input_strides):
        flat = read.reshape(-1)
        shared = grad.detach().new_zeros((extent,))
        shared = shared.index_add(0, flat, shared.new_ones((flat.numel(),)))
        memory = memory / shared.clamp(min=1)
    return memory.index_select(0, read.reshape(-1)).view(input_sizes)


def _reach(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """The distance from the first to the last element in memory."""
    return sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def _overlaps(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two elements may share memory; may err on the side of yes."""
    covered = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if size > 1:
            if stride <= covered:
                return True
            covered += (size - 1) * stride
    return False


def split_backward(
    grads: Sequence[Any], split_size: int, dim: int, input_sizes: Sequence[int]
) -> Any:
    """The gradient of `split`."""
    size = input_sizes[dim]
    lengths = [min(split_size, size - start) for start in range(0, size, split_size or 1)] or [0]
    return split_with_sizes_backward(grads, lengths, dim, input_sizes)


def chunk_backward(grads: Sequence[Any], chunks: int, dim: int, input_sizes: Sequence[int]) -> Any:
    """The gradient of `chunk`."""
    size = input_sizes[dim]
    if not size:
        return split_with_sizes_backward(grads, [0] * chunks, dim, input_sizes)
    return split_backward(grads, (size + chunks - 1) // chunks, dim, input_sizes)


def split_with_sizes_backward(
    grads: Sequence[Any], split_sizes: Sequence[int], dim: int, input_sizes: Sequence[int]
) -> Any:
    """The gradient of `split_with_sizes`; a piece without gradient counts as zeros."""
    (at, like), *others = [(i, grad) for i, grad in enumerate(grads) if grad is not None]
    if not others:
        return ops._put_slice(like, input_sizes, dim, sum(split_sizes[:at]))
    sizes = list(input_sizes)
    pieces = []
    for grad, length in zip(grads, split_sizes, strict=True):
        if grad is None:
            sizes[dim] = length
            grad = like.new_zeros(sizes)
        pieces.append(grad)
    return ops.cat(pieces, dim)


def unbind_backward(grads: Sequence[Any], dim: int) -> Any:
    """The gradient of `unbind`; a piece without gradient counts as zeros."""
    (at, like), *others = [(i, grad) for i, grad in enumerate(grads) if grad is not None]
    if not others:
        sizes = list(like.shape)
        sizes.insert(dim % (len(sizes) + 1), len(grads))
        return ops._put_slice(like, sizes, dim, at)
    if any(grad is None for grad in grads):
        zeros = like.new_zeros(like.shape)
        grads = [zeros if grad is None else grad for grad in grads]
    return ops.stack(grads, dim)
