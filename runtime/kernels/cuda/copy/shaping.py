"""Joining, mirroring, repeating and cutting arrays: copies between views, and what these cannot do.

These walk strides: what they are given is copied once, into place.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous, walks_strides


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


@walks_strides
def repeat_interleave_int(
    queue: Queue,
    out: Array,
    self: Array,
    repeats: int,
    dim: int | None = None,
    output_size: int | None = None,
) -> None:
    """Write every slice along `dim` `repeats` times; without `dim` every element."""
    if not out.numel:
        return
    if dim is None or not self.ndim:
        self = contiguous(queue, self).reshaped(self.numel)
        dim = 0
    dim = dim % self.ndim + 1
    sizes = (*self.sizes[:dim], repeats, *self.sizes[dim:])
    strides = (*self.strides[:dim], 0, *self.strides[dim:])
    queue.copy(out.reshaped(*sizes), self.at(0, sizes, strides))


@walks_strides
def roll(
    queue: Queue,
    out: Array,
    self: Array,
    shifts: int | Sequence[int],
    dims: int | Sequence[int] = (),
) -> None:
    """Write self shifted along `dims`, or as if flat."""
    if not self.numel:
        return
    moves = list(shifts) if isinstance(shifts, (tuple, list)) else [shifts]
    along = list(dims) if isinstance(dims, (tuple, list)) else [dims]
    if not along:
        flat = contiguous(queue, self).reshaped(self.numel)
        _copy_rolled(queue, out.reshaped(out.numel), flat, moves[0], 0)
        return
    for number, (shift, dim) in enumerate(zip(moves, along, strict=True)):
        made = out if number == len(along) - 1 else queue.empty(self.sizes, self.dtype)
        _copy_rolled(queue, made, self, shift, dim % self.ndim)
        self = made


def _copy_rolled(queue: Queue, out: Array, self: Array, shift: int, dim: int) -> None:
    size = self.sizes[dim]
    shift %= size
    queue.copy(out.narrowed(dim, shift, size - shift), self.narrowed(dim, 0, size - shift))
    queue.copy(out.narrowed(dim, 0, shift), self.narrowed(dim, size - shift, shift))
