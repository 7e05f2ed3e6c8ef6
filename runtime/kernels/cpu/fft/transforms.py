"""Discrete Fourier transforms on the CPU by SciPy's pocketfft, into the given outputs.

Many rows or columns whose size is a power of two are our own (`lane_transforms`), and so are a few
points (`fourier_plans`).
A normalisation is 0 for none, 1 for the square root of the number of points, 2 for that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.fft import fft_plans, lane_transforms
from torchgen_out._runtime.kernels.cpu.planned import or_arrays

Array = Any

WORTH_THREADS = 1 << 15
"""Elements below which one thread is as fast."""

FORWARD = ("backward", "ortho", "forward")
BACKWARD = ("forward", "ortho", "backward")
"""The names by which SciPy's public functions know a normalisation."""


@cache
def transforms() -> Any:
    """The module below scipy.fft, whose functions take `out`; None where it is another one."""
    try:
        from scipy.fft._pocketfft import pypocketfft
    except ImportError:
        return None
    return pypocketfft


def _workers(array: Array) -> int:
    return threads.get_num_threads() if array.size >= WORTH_THREADS else 1


@or_arrays(fft_plans.plan_r2c)
def _fft_r2c(
    out: Array, self: Array, dim: Sequence[int], normalization: int, onesided: bool
) -> None:
    """Write the transform of real numbers: the first half of the last dim, or all of it."""
    library, count = transforms(), _workers(self)
    if dim[-1] == self.ndim - 1 and _fits_lanes(out, self, dim):
        _r2c_in_lanes(out, self, dim, _scale(self, dim, normalization))
    elif library is None:
        _by_public_function("rfftn" if onesided else "fftn", out, self, dim, FORWARD[normalization])
    elif onesided:
        library.r2c(self, dim, True, normalization, out, count)
    else:
        last = dim[-1]
        half = out.shape[last] // 2 + 1
        first = out[(slice(None),) * last + (slice(half),)]
        library.r2c(self, dim, True, normalization, first, count)
        _mirror(out, dim, half)


def _fits_lanes(out: Array, self: Array, dim: Sequence[int]) -> bool:
    """Whether the transform goes over the last dim, the one before, or both, in vectors' lanes."""
    last = self.ndim - 1
    return (
        tuple(dim) in ((last,), (last - 1,), (last - 1, last))
        and out.flags.c_contiguous
        and all(d >= 0 and lane_transforms.suits(self, self.shape[d]) for d in dim)
    )


def _fits_real_lanes(out: Array, self: Array, dim: Sequence[int]) -> bool:
    """Whether a transform to real numbers goes over the last dim, or the one before, too."""
    last = out.ndim - 1
    return (
        tuple(dim) in ((last,), (last - 1, last))
        and self.flags.c_contiguous
        and self.shape[last] == out.shape[last] // 2 + 1
        and out.shape[last] > lane_transforms.SMALLEST
        and lane_transforms.suits(out, out.shape[last])
        and all(lane_transforms.suits(self, self.shape[d]) for d in dim[:-1])
    )


def _c2r_in_lanes(out: Array, self: Array, dim: Sequence[int], scale: float) -> None:
    """The dim before the last first."""
    if len(dim) > 1:
        given, self = self, np.empty_like(self)
        for matrix, result in zip(_matrices(given), _matrices(self), strict=True):
            lane_transforms.transform_columns(result, matrix, 1.0, False)
    rows = out.reshape(-1, out.shape[-1])
    lane_transforms.transform_to_real_rows(rows, self.reshape(len(rows), -1), scale)


def _scale(self: Array, dim: Sequence[int], normalization: int) -> float:
    """The factor of a normalisation."""
    count = prod(self.shape[d] for d in dim)
    return (1.0, count**-0.5, 1.0 / count)[normalization]


def _matrices(array: Array) -> Array:
    """(*B, n, m) as (B, n, m)."""
    return array.reshape((-1, *array.shape[-2:]))


def _r2c_in_lanes(out: Array, self: Array, dim: Sequence[int], scale: float) -> None:
    """The last dim by two rows at once; the one before in place, over the first half."""
    if len(dim) == 1:
        rows = self.reshape(-1, self.shape[-1]), out.reshape(-1, out.shape[-1])
        lane_transforms.transform_real_rows(rows[1], rows[0], scale)
        return
    half = self.shape[-1] // 2 + 1
    for matrix, result in zip(_matrices(self), _matrices(out)[..., :half], strict=True):
        lane_transforms.transform_real_rows(result, matrix, 1.0)
        lane_transforms.transform_columns(result, result, scale, True)
    if out.shape[-1] > half:
        _mirror(out, dim, half)


def _c2c_in_lanes(out: Array, self: Array, dim: Sequence[int], scale: float, forward: bool) -> None:
    """The last dim first, then the one before."""
    source = self
    if dim[-1] == self.ndim - 1:
        rows, factor = out.reshape(-1, out.shape[-1]), scale if len(dim) == 1 else 1.0
        lane_transforms.transform_rows(rows, self.reshape(rows.shape), factor, forward)
        source = out
    if dim[0] == self.ndim - 2:
        for matrix, result in zip(_matrices(source), _matrices(out), strict=True):
            lane_transforms.transform_columns(result, matrix, scale, forward)


def _mirror(out: Array, dim: Sequence[int], half: int) -> None:
    """Fill what lies behind the first half of the last dim: the conjugate at opposite places.

    Half a transform and this take half the time of SciPy's whole one.
    """
    size = out.shape[dim[-1]]
    if out.dtype == np.complex64 and dim[-1] == out.ndim - 1 and out.size:
        words = out.reshape((-1, size)).view(np.int64)
        opposite = opposite_rows(out.shape[:-1], tuple(dim[:-1]))
        threads.run_ranges(mirror_words, len(words), words.size, words, opposite, half)
        return
    for kinds in product((ZERO, OTHERS), repeat=len(dim) - 1):
        to, place = [slice(None)] * out.ndim, [slice(None)] * out.ndim
        for axis, (own, opposite) in zip(dim[:-1], kinds, strict=True):
            to[axis], place[axis] = own, opposite
        to[dim[-1]], place[dim[-1]] = slice(half, size), slice(size - half, 0, -1)
        np.conjugate(out[tuple(place)], out=out[tuple(to)])


@lru_cache(maxsize=64)
def opposite_rows(sizes: tuple[int, ...], dim: tuple[int, ...]) -> Array:
    """For each row, numbered over leading dims, the one at the opposite place in some of them."""
    places = [np.arange(n) if d not in dim else -np.arange(n) % n for d, n in enumerate(sizes)]
    numbers = np.arange(prod(sizes)).reshape(sizes)
    return np.ascontiguousarray(numbers[np.ix_(*places)]).reshape(-1)


@build.kernel
def mirror_words(start, stop, words, opposite, half):
    """The conjugate at opposite places of rows; words: 64 bits, the first the imaginary sign."""
    count = words.shape[1] - half
    for r in range(start, stop):
        behind, first = words[r, half:], words[opposite[r], 1 : count + 1]
        for j in range(count):
            behind[j] = first[count - 1 - j] ^ IMAGINARY_SIGN


IMAGINARY_SIGN = -(1 << 63)

ZERO = slice(0, 1), slice(0, 1)
OTHERS = slice(1, None), slice(None, 0, -1)
"""Places along a dim, and the opposite ones: 0 is its own."""


@or_arrays(fft_plans.plan_c2r)
def _fft_c2r(
    out: Array, self: Array, dim: Sequence[int], normalization: int, last_dim_size: int
) -> None:
    """Write the real numbers whose transform has this first half."""
    library = transforms()
    if _fits_real_lanes(out, self, dim):
        _c2r_in_lanes(out, self, dim, _scale(out, dim, normalization))
    elif library is None:
        sizes = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
        _by_public_function("irfftn", out, self, dim, BACKWARD[normalization], s=sizes)
    else:
        library.c2r(self, dim, last_dim_size, False, normalization, out, _workers(self))


@or_arrays(fft_plans.plan_c2c)
def _fft_c2c(
    out: Array, self: Array, dim: Sequence[int], normalization: int, forward: bool
) -> None:
    """Write the transform of complex numbers; backward, the one with the opposite sign."""
    library = transforms()
    if not len(dim):
        np.copyto(out, self)
    elif _fits_lanes(out, self, dim):
        _c2c_in_lanes(out, self, dim, _scale(self, dim, normalization), forward)
    elif library is not None:
        library.c2c(self, dim, forward, normalization, out, _workers(self))
    elif forward:
        _by_public_function("fftn", out, self, dim, FORWARD[normalization])
    else:
        _by_public_function("ifftn", out, self, dim, BACKWARD[normalization])


def _by_public_function(
    name: str, out: Array, self: Array, dim: Sequence[int], norm: str, **options: Any
) -> None:
    import scipy.fft

    function = getattr(scipy.fft, name)
    out[...] = function(self, axes=dim, norm=norm, workers=_workers(self), **options)
