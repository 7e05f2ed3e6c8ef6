"""Discrete Fourier transforms on CUDA by cuFFT, into the given outputs.

cuFFT transforms up to three innermost dims of contiguous memory at once: other dims are brought
there by a copy, more of them are done in turn. A normalisation is 0 for none, 1 for the square root
of the number of points, 2 for that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any, NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import scaled
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous, permuted

MOST_DIMS = 3
"""Dims of one transform."""


class Transform(NamedTuple):
    """A batch of transforms over the innermost dims of contiguous memory.

    sizes: of the real numbers, or of all points; the complex side of a real transform has
    n // 2 + 1 points in the last dim.
    """

    source: dtypes.dtype
    result: dtypes.dtype
    sizes: tuple[int, ...]
    batch: int


@direct
def _fft_r2c(
    queue: Queue, out: Array, self: Array, dim: Sequence[int], normalization: int, onesided: bool
) -> None:
    """Write the transform of real numbers: the first half of the last dim, or all of it."""
    points = prod(self.sizes[d] for d in dim)
    if not onesided:
        turned = queue.empty(self.sizes, out.dtype)
        queue.copy(turned, self)
        _complex(queue, out, turned, dim, forward=True)
    elif out.numel:
        *first, last = [tuple(dim[i : i + MOST_DIMS]) for i in _starts(len(dim))]
        _run(queue, out, self, last, self.sizes, forward=True)
        for dims in first:
            _run(queue, out, out, dims, out.sizes, forward=True)
    _normalize(queue, out, points, normalization)


@direct
def _fft_c2r(
    queue: Queue,
    out: Array,
    self: Array,
    dim: Sequence[int],
    normalization: int,
    last_dim_size: int,
) -> None:
    """Write the real numbers whose transform has this first half."""
    *first, last = [tuple(dim[i : i + MOST_DIMS]) for i in _starts(len(dim))]
    half = self
    for dims in first:
        made = queue.empty(self.sizes, self.dtype) if half is self else half
        _run(queue, made, half, dims, half.sizes, forward=False)
        half = made
    _run(queue, out, half, last, out.sizes, forward=False, kept=half is self)
    _normalize(queue, out, prod(out.sizes[d] for d in dim), normalization)


@direct
def _fft_c2c(
    queue: Queue, out: Array, self: Array, dim: Sequence[int], normalization: int, forward: bool
) -> None:
    """Write the transform of complex numbers; backward, the one with the opposite sign."""
    if not len(dim):
        queue.copy(out, self)
        return
    _complex(queue, out, self, dim, forward)
    _normalize(queue, out, prod(self.sizes[d] for d in dim), normalization)


def _complex(queue: Queue, out: Array, self: Array, dim: Sequence[int], forward: bool) -> None:
    source = self
    for start in _starts(len(dim)):
        _run(queue, out, source, tuple(dim[start : start + MOST_DIMS]), self.sizes, forward)
        source = out


def _starts(count: int) -> range:
    """Where groups of dims begin."""
    return range(0, count, MOST_DIMS)


def _run(
    queue: Queue,
    out: Array,
    source: Array,
    dims: tuple[int, ...],
    sizes: Sequence[int],
    forward: bool,
    kept: bool = False,
) -> None:
    """One call of the library. sizes: of the real side, or of both; out may be the source.

    kept: whether the source is to stay as it is, over which the library writes where the result is
    real.
    """
    if not out.numel:
        return
    order = (*[d for d in range(out.ndim) if d not in dims], *dims)
    seen, target = permuted(source, order), permuted(out, order)
    given = contiguous(queue, seen)
    if not _is_aligned(given) or (kept and given is seen):
        given = queue.empty(seen.sizes, seen.dtype)
        queue.copy(given, seen)
    is_direct = target.is_contiguous and target.address != given.address and _is_aligned(target)
    made = target if is_direct else queue.empty(target.sizes, out.dtype)
    batch = prod(sizes[d] for d in order[: out.ndim - len(dims)])
    what = Transform(source.dtype, out.dtype, tuple([sizes[d] for d in dims]), batch)
    queue.fourier.run(what, given.address, made.address, forward)
    if not is_direct:
        queue.copy(target, made)


def _is_aligned(x: Array) -> bool:
    """Whether memory lies as the library wants it: real numbers, too, as complex ones do."""
    return not x.address % x.dtype.to_complex().itemsize


def _normalize(queue: Queue, out: Array, points: int, normalization: int) -> None:
    if normalization and out.numel:
        factor: Any = 1 / (sqrt(points) if normalization == 1 else points)
        queue.apply(scaled, out, [out], [factor])
