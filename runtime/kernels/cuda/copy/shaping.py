"""Joining arrays: each is copied once, into place."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, walks_strides


@walks_strides
def cat(queue: Queue, out: Array, tensors: Sequence[Array], dim: int = 0) -> None:
    """Write the arrays one behind the other along `dim`; those of shape (0,) are left out.

    Where all have a dim less than the result, it is a new one: they are stacked.
    """
    dim, start = dim % max(out.ndim, 1), 0
    is_stack = all(tensor.ndim < out.ndim for tensor in tensors)
    for tensor in tensors:
        if is_stack:
            sizes, strides = tensor.sizes, tensor.strides
            tensor = tensor.at(
                0, (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], 0, *strides[dim:])
            )
        if tensor.ndim == out.ndim:
            length = tensor.sizes[dim]
            queue.copy(out.narrowed(dim, start, length), tensor)
            start += length
