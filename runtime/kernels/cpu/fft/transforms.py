"""Discrete Fourier transforms on the CPU by SciPy's pocketfft, into the given outputs.

Sizes without primes beyond 7 are our own (`lane_plans`), and so are a few points (`fft_plans`).
A normalisation is 0 for none, 1 for the square root of the number of points, 2 for that number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.fft import fft_plans, lane_plans
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.plan import LaunchPlan

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


Planner = Callable[..., LaunchPlan | None]


def _either(first: Planner, second: Planner) -> Planner:
    """The plan of the first planner that has one."""
    return lambda *args: first(*args) or second(*args)


def _workers(array: Array) -> int:
    return threads.get_num_threads() if array.size >= WORTH_THREADS else 1


@or_arrays(_either(lane_plans.plan_r2c, fft_plans.plan_r2c))
def _fft_r2c(
    out: Array, self: Array, dim: Sequence[int], normalization: int, onesided: bool
) -> None:
    """Write the transform of real numbers: the first half of the last dim, or all of it."""
    library, count = transforms(), _workers(self)
    if library is None:
        _by_public_function("rfftn" if onesided else "fftn", out, self, dim, FORWARD[normalization])
    elif onesided:
        library.r2c(self, dim, True, normalization, out, count)
    else:
        last = dim[-1]
        half = out.shape[last] // 2 + 1
        first = out[(slice(None),) * last + (slice(half),)]
        library.r2c(self, dim, True, normalization, first, count)
        _mirror(out, dim, half)


def _mirror(out: Array, dim: Sequence[int], half: int) -> None:
    """Fill what lies behind the first half of the last dim: the conjugate at opposite places.

    Half a transform and this take half the time of SciPy's whole one.
    """
    size = out.shape[dim[-1]]
    if out.dtype == np.complex64 and dim[-1] == out.ndim - 1 and out.size:
        words = out.reshape((-1, size)).view(np.int64)
        opposite = lane_plans.opposite_rows(out.shape[:-1], tuple(dim[:-1]))
        threads.run_ranges(mirror_words, len(words), words.size, words, opposite, half)
        return
    for kinds in product((ZERO, OTHERS), repeat=len(dim) - 1):
        to, place = [slice(None)] * out.ndim, [slice(None)] * out.ndim
        for axis, (own, opposite) in zip(dim[:-1], kinds, strict=True):
            to[axis], place[axis] = own, opposite
        to[dim[-1]], place[dim[-1]] = slice(half, size), slice(size - half, 0, -1)
        np.conjugate(out[tuple(place)], out=out[tuple(to)])


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


@or_arrays(_either(lane_plans.plan_c2r, fft_plans.plan_c2r))
def _fft_c2r(
    out: Array, self: Array, dim: Sequence[int], normalization: int, last_dim_size: int
) -> None:
    """Write the real numbers whose transform has this first half."""
    library = transforms()
    if library is None:
        sizes = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
        _by_public_function("irfftn", out, self, dim, BACKWARD[normalization], s=sizes)
    else:
        library.c2r(self, dim, last_dim_size, False, normalization, out, _workers(self))


@or_arrays(_either(lane_plans.plan_c2c, fft_plans.plan_c2c))
def _fft_c2c(
    out: Array, self: Array, dim: Sequence[int], normalization: int, forward: bool
) -> None:
    """Write the transform of complex numbers; backward, the one with the opposite sign."""
    library = transforms()
    if not len(dim):
        np.copyto(out, self)
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
