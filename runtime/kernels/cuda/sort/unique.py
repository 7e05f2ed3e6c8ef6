"""Distinct values, distinct slices, and runs of equal neighbours. Every NaN is distinct."""

from __future__ import annotations

from typing import NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.compaction import total_of
from torchgen_out._runtime.kernels.cuda.indexing.places import in_order
from torchgen_out._runtime.kernels.cuda.indexing.reading import read_slices
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.scan.scan import plus, scan, zero
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions
from torchgen_out._runtime.kernels.cuda.sort.sort import keys_of

Three = tuple[Array, Array, Array]


class Runs(NamedTuple):
    """Runs of equal rows in some order: how many began up to each place; where each begins."""

    order: Array
    begun: Array
    starts: Array


def distinct(
    queue: Queue,
    self: Array,
    dim: int | None,
    sorted: bool,
    neighbours: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Three:
    """Return the distinct values, or slices along `dim`; which of them each is; how many are equal.

    neighbours: equal ones that stand apart are two; else all are sorted, slices element by element,
    the last first: for short slices. What is not asked for has no elements.
    """
    if dim is None:
        rows, sizes = self.reshaped(self.numel, 1), self.sizes
    else:
        rows, dim = _slices(queue, self, dim)
        sizes = rows.sizes[:1]
    order = _counted_up(queue, rows.sizes[0]) if neighbours else _lexicographic(queue, rows)
    runs = _runs(queue, rows, order)
    found = runs.starts.numel
    inverse = queue.result(sizes if return_inverse else (0,), dtypes.int64)
    counts = queue.result((found if return_counts else 0,), dtypes.int64)
    if dim is None:
        values = queue.result((found,), self.dtype)
        _write(queue, values, inverse, counts, rows, runs)
        return values, inverse, counts
    values = queue.result((*self.sizes[:dim], found, *self.sizes[dim + 1 :]), self.dtype)
    made = queue.empty((found, rows.sizes[1]), self.dtype)
    _write(queue, made, inverse, counts, rows, runs)
    rest = (*self.sizes[:dim], *self.sizes[dim + 1 :])
    steps = [*values.strides[:dim], *values.strides[dim + 1 :]]
    target = values.at(0, (found, *rest), (values.strides[dim], *steps))
    if values.numel:
        queue.copy(target, made.reshaped(found, *rest))
    return values, inverse, counts


def _slices(queue: Queue, self: Array, dim: int) -> tuple[Array, int]:
    """The slices along `dim` as contiguous rows, and the dim from the front.

    Raises: IndexError for dim, RuntimeError where another dim has size 0.
    """
    if not self.ndim:
        raise errors.dim_of_scalar(dim)
    if not -self.ndim <= dim < self.ndim:
        raise errors.dim_out_of_range(dim, self.ndim)
    dim %= self.ndim
    count = self.sizes[dim]
    if not self.numel and (count or sum(size == 0 for size in self.sizes) > 1):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    if not self.numel:
        return queue.empty((count, 0), self.dtype), dim
    order = (dim, *(each for each in range(self.ndim) if each != dim))
    return in_order(queue, self, order).reshaped(count, self.numel // count), dim


def _counted_up(queue: Queue, n: int) -> Array:
    order = queue.empty((n,), dtypes.int64)
    run_elements(queue, count_up, n, order, n)
    return order


@device_kernel("int64*", "I")
def count_up(out, n):
    """A thread owns elements at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = np.int64(i)
        i = I(i + cuda.gridsize(1))


def _lexicographic(queue: Queue, rows: Array) -> Array:
    """The order of rows: sorted by one element after the other, the last first."""
    count, width = rows.sizes
    order = _counted_up(queue, count)
    for element in range(width - 1, -1, -1) if count else ():
        column = queue.empty((count,), rows.dtype)
        numbers = (count, width, element)
        run_elements(queue, take_column, count, column.moved(), rows.moved(), order, *numbers)
        keys, bits = keys_of(queue, column, False)
        by_column = sort_positions(queue, keys, bits, signed=True)
        made = queue.empty((count,), dtypes.int64)
        read_slices(queue, made, order, by_column, Folded(1, count, 1))
        order = made
    return order


@device_kernel("X* X* int64*", "I I I")
def take_column(out, rows, order, n, width, element):
    """A thread owns rows at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < n:
        out[i] = rows[I(order[i]) * width + element]
        i = I(i + cuda.gridsize(1))


def _runs(queue: Queue, rows: Array, order: Array) -> Runs:
    """Find the runs of equal rows in an order."""
    count, width = rows.sizes
    begun = queue.empty((count,), dtypes.int64)
    run_elements(queue, flag_runs, count, begun, rows, order, count, width)
    scan(queue, begun, begun, Folded(1, count, 1), zero, plus)
    starts = queue.empty((total_of(queue, begun),), dtypes.int64)
    run_elements(queue, write_starts, count, starts, begun, count)
    return Runs(order, begun, starts)


@device_kernel("int64* X* int64*", "I I")
def flag_runs(flags, rows, order, n, width):
    """A thread owns places at the distance of the grid: 1 where a row differs from the one before
    it, as NaN does from itself."""
    i = I(cuda.grid(1))
    while i < n:
        differs = i == 0
        if not differs:
            here, before = I(order[i]) * width, I(order[I(i - 1)]) * width
            for j in range(width):
                differs |= load_X(rows[here + j]) != load_X(rows[before + j])
        flags[i] = np.int64(1) if differs else np.int64(0)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64*", "I")
def write_starts(starts, begun, n):
    """A thread owns places at the distance of the grid; where the sum steps up, a run begins."""
    i = I(cuda.grid(1))
    while i < n:
        before = begun[I(i - 1)] if i > 0 else np.int64(0)
        if begun[i] != before:
            starts[before] = np.int64(i)
        i = I(i + cuda.gridsize(1))


def _write(
    queue: Queue, values: Array, inverse: Array, counts: Array, rows: Array, runs: Runs
) -> None:
    """Write what is asked for: what is not has no elements. values: (runs, width)."""
    count, width = rows.sizes
    found = runs.starts.numel
    operands = (values.moved(), rows.moved(), runs.order, runs.starts)
    run_elements(queue, read_runs, values.numel, *operands, values.numel, max(width, 1))
    if inverse.numel:
        operands = (inverse, runs.order, runs.begun)
        run_elements(queue, write_inverse, count, *operands, count)
    run_elements(queue, write_lengths, counts.numel, counts, runs.starts, found, count)


@device_kernel("X* X* int64* int64*", "I I")
def read_runs(values, rows, order, starts, n, width):
    """A thread owns elements at the distance of the grid: the first row of each run."""
    i = I(cuda.grid(1))
    while i < n:
        run = divided(i, width)
        values[i] = rows[I(order[starts[run]]) * width + (i - run * width)]
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64* int64*", "I")
def write_inverse(inverse, order, begun, n):
    """A thread owns places at the distance of the grid: the run of the row that stands there."""
    i = I(cuda.grid(1))
    while i < n:
        inverse[order[i]] = np.int64(begun[i] - 1)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64*", "I int64")
def write_lengths(counts, starts, runs, n):
    """A thread owns runs at the distance of the grid."""
    i = I(cuda.grid(1))
    while i < runs:
        end = starts[I(i + 1)] if i + 1 < runs else n
        counts[i] = np.int64(end - starts[i])
        i = I(i + cuda.gridsize(1))
