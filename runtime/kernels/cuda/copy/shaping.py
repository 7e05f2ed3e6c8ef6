"""Joining arrays: each is copied once, into place."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, walks_strides


@walks_strides
def cat(queue: Queue, out: Array, tensors: Sequence[Array], dim: int = 0) -> None:
    """Write the arrays one behind the other along `dim`; those of shape (0,) are left out."""
    dim, start = dim % max(out.ndim, 1), 0
    for tensor in tensors:
        if tensor.ndim == out.ndim:
            length = tensor.sizes[dim]
            queue.copy(out.narrowed(dim, start, length), tensor)
            start += length


@walks_strides
def stack(queue: Queue, out: Array, tensors: Sequence[Array], dim: int = 0) -> None:
    """Write the arrays one behind the other along the new dim `dim`."""
    dim %= out.ndim
    sizes, strides = ((*each[:dim], *each[dim + 1 :]) for each in (out.sizes, out.strides))
    for number, tensor in enumerate(tensors):
        queue.copy(out.at(number * out.strides[dim], sizes, strides), tensor)
