"""Plans of Fourier transforms of sizes without primes beyond 7: one launch for each dim.

The last dim is transformed row by row, the others by columns (`lane_transforms` has the kernels).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.aligned import empty_of
from torchgen_out._runtime.kernels.cpu.fft import lane_transforms
from torchgen_out._runtime.kernels.cpu.fft.fft_plans import scale_of
from torchgen_out._runtime.kernels.cpu.planned import on_copies
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
ROWS = range(8, (1 << 18) + 1)
"""Complex numbers of a row: a sum over fewer is as fast, the work of more leaves the cache."""
COLUMNS = range(2, (1 << 12) + 1)
LONGEST_KEPT = 1 << 12
"""Numbers of rows whose roots plans keep; of longer ones those used last are kept."""
PASSES = 8  # how much more an element costs than in element-wise work
CHARACTERS = "fdFD"  # of the dtypes: float32, float64, complex64, complex128


def plan_c2c(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, forward: bool
) -> LaunchPlan | None:
    """Plan `_fft_c2c`; None where a dim has no kernel here."""
    sizes, dims = _shape(self.sizes), _order(self.sizes, dim)
    if not dims or not _have_kernels(out, sizes, dims):
        return None
    scale = scale_of([self.sizes[d] for d in dims], normalization)
    steps = _over_dims(_real(out), sizes, dims, sizes[-1], forward, scale)
    return on_copies(_in_turn(steps), 1, [self])


def plan_r2c(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, onesided: bool
) -> LaunchPlan | None:
    """Plan `_fft_r2c`: the first half of the last dim, other dims over that, what is opposite."""
    halves = _half(self.sizes, dim)
    if halves is None or not _have_kernels(out, *halves):
        return None
    sizes, (last, *others) = halves
    dtype, half = _real(out), sizes[last]
    scale = scale_of([self.sizes[d] for d in dim], normalization)
    pitch = _shape(out.sizes)[-1]
    kept = pitch if onesided or not others else half + 1
    own = 1.0 if others else scale
    steps = [_rows("r2c", dtype, sizes, (2 * half, 2 * pitch), True, own, kept)]
    steps += _over_dims(dtype, (*sizes[:-1], pitch), others, half + 1, True, scale)
    if kept < pitch:
        steps.append(_mirrored(dtype, sizes, tuple(others)))
    return on_copies(_in_turn(steps), 1, [self])


def plan_c2r(
    out: TensorSpec, self: TensorSpec, dim: Sequence[int], normalization: int, last_dim_size: int
) -> LaunchPlan | None:
    """Plan `_fft_c2r`: other dims of the given half, in memory of its own, then the last."""
    halves = _half(out.sizes, dim)
    if halves is None or not _have_kernels(self, *halves):
        return None
    sizes, (last, *others) = halves
    dtype, half = out.dtype, sizes[last]
    if _shape(self.sizes)[-1] != half + 1:
        return None
    scale = scale_of([out.sizes[d] for d in dim], normalization)
    rows = _rows("c2r", dtype, sizes, (2 * half + 2, 2 * half), False, scale)
    if not others:
        return on_copies(rows, 1, [self])
    columns = _in_turn(_over_dims(dtype, (*sizes[:-1], half + 1), others, half + 1, False, 1.0))
    empty, numel = empty_of(self.dtype), self.numel

    def run(out: Array, x: Array, at: int, numbers: Array) -> None:
        turned = empty(numel)
        columns.run(turned, x, at, columns.params)
        rows.run(out, turned, 0, numbers)

    return on_copies(LaunchPlan(run, rows.params), 1, [self])


def _shape(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes without those of 1 at the end."""
    count = max((d + 1 for d, size in enumerate(sizes) if size != 1), default=0)
    return tuple(sizes[:count])


def _order(sizes: Sequence[int], dim: Sequence[int]) -> list[int]:
    """The dims that are more than one number, the innermost first."""
    return sorted([d % len(sizes) for d in dim if sizes[d] > 1], reverse=True)


def _half(
    sizes: Sequence[int], dim: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The sizes with half of the last of the dims, and the dims; None if that is not the last."""
    shape = _shape(sizes)
    if not dim or dim[-1] % len(sizes) != len(shape) - 1 or shape[-1] % 2:
        return None
    return (*shape[:-1], shape[-1] // 2), tuple(_order(sizes, dim))


def _have_kernels(numbers: TensorSpec, sizes: tuple[int, ...], dims: Sequence[int]) -> bool:
    """Whether each dim of complex numbers has a kernel, and columns fill some lanes."""
    if numbers.dtype.char not in CHARACTERS or 0 in sizes:
        return False
    for dim in dims:
        size, columns = sizes[dim], prod(sizes[dim + 1 :])
        known = COLUMNS if dim < len(sizes) - 1 else ROWS
        is_filled = columns == 1 or 4 * columns >= lane_transforms.lanes_of(_real(numbers))
        if size not in known or not is_filled or not lane_transforms.has_steps(size):
            return False
    return True


def _real(numbers: TensorSpec) -> Any:
    """The dtype of complex numbers' parts."""
    return np.dtype(numbers.dtype.char.lower())


def _in_turn(steps: Sequence[LaunchPlan]) -> LaunchPlan:
    """The launches one after the other, all but the first in place."""
    (first, numbers), *others = steps
    if not others:
        return steps[0]

    def run(out: Array, x: Array, at: int, numbers: Array) -> None:
        first(out, x, at, numbers)
        for step, own in others:
            step(out, out, 0, own)

    return LaunchPlan(run, numbers)


def _shared(kernel: Any, count: int, work: int, table: Array, numbers: Array) -> LaunchPlan:
    """A launch that is shared by threads if there is work enough."""
    if work < 2 * threads.GRAIN:
        return LaunchPlan(partial(kernel, 0, count, table), numbers)
    return LaunchPlan(partial(threads.run_ranges, kernel, count, work, table), numbers)


def _over_dims(
    dtype: Any, sizes: tuple[int, ...], dims: Sequence[int], kept: int, forward: bool, scale: float
) -> list[LaunchPlan]:
    """Transforms of dense complex numbers over some dims. kept: how many of the last dim count."""
    steps = []
    for i, dim in enumerate(dims):
        given = forward, scale if i == len(dims) - 1 else 1.0
        if dim == len(sizes) - 1:
            steps.append(_rows("c2c", dtype, sizes, (2 * kept, 2 * kept), *given))
        else:
            steps.append(_columns(dtype, sizes, dim, kept, *given))
    return steps


def _rows(
    kind: str,
    dtype: Any,
    sizes: tuple[int, ...],
    steps: tuple[int, int],
    forward: bool,
    scale: float,
    kept: int = 0,
) -> LaunchPlan:
    """Transforms of rows; the arguments are those of `lane_transforms.numbers_of_rows`."""
    *outer, size = sizes
    count = prod(outer)
    entry = lane_transforms.entry_for(dtype, kind, lane_transforms.group_of(dtype, size))
    numbers = lane_transforms.numbers_of_rows(dtype, kind, size, steps, forward, scale, kept)
    find, work = partial(lane_transforms.factors_of_rows, dtype, size, kind), count * size * PASSES
    if size <= LONGEST_KEPT:
        return _shared(entry, count, work, find(), numbers)
    return LaunchPlan(lambda *args: threads.run_ranges(entry, count, work, find(), *args), numbers)


def _columns(
    dtype: Any, sizes: tuple[int, ...], dim: int, kept: int, forward: bool, scale: float
) -> LaunchPlan:
    """Transforms of the columns of matrices, which lie between each other if not all are kept."""
    between, size = prod(sizes[dim + 1 : -1]), sizes[dim]
    step = 2 * between * sizes[-1]
    columns, matrices = (between * kept, 1) if kept == sizes[-1] else (kept, between)
    lanes = lane_transforms.lanes_of(dtype)
    blocks = -(-columns // lanes)
    count = prod(sizes[:dim]) * matrices * blocks
    numbers = lane_transforms.numbers_of_columns(
        size, columns, step, forward, scale, blocks, matrices
    )
    entry = lane_transforms.entry_for(dtype, "columns")
    table = lane_transforms.factors_of_columns(dtype, size)
    return _shared(entry, count, count * lanes * size * PASSES, table, numbers)


def _mirrored(dtype: Any, sizes: tuple[int, ...], dims: tuple[int, ...]) -> LaunchPlan:
    """The second half of each row from the first half of the opposite one."""
    *outer, half = sizes
    count = prod(outer)
    entry = lane_transforms.entry_for(dtype, "mirror", lane_transforms.group_of(dtype, half))
    numbers = np.array([half], np.int64)
    return _shared(entry, count, 2 * count * half, opposite_rows(tuple(outer), dims), numbers)


@lru_cache(maxsize=64)
def opposite_rows(sizes: tuple[int, ...], dim: tuple[int, ...]) -> Array:
    """For each row, numbered over leading dims, the one at the opposite place in some of them."""
    places = [np.arange(n) if d not in dim else -np.arange(n) % n for d, n in enumerate(sizes)]
    numbers = np.arange(prod(sizes)).reshape(sizes)
    return np.ascontiguousarray(numbers[np.ix_(*places)]).reshape(-1)
