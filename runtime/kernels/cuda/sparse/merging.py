"""Entries of a matrix in order, those of one place as one, on CUDA: a radix sort.

A place has one thread, which adds its values in the order of the entries: sums do not depend on the
grid.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.reading import read_slices
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.scan.scan import summed
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions


def merge(
    queue: Queue,
    indices: Array,
    one_of_each: Array,
    sources: Array,
    kept: Array,
    lines: Array,
    others: Array,
    count: int,
    across: int,
) -> None:
    """The places of entries in order, those of one place as one; one of the entries that join each
    of these; which each entry joins; and how many these are.
    """
    n = lines.numel
    queue.fill(indices, 0)
    queue.fill(one_of_each, 0)
    queue.fill(kept, 0)
    if not n:
        return
    given = [contiguous(queue, each) for each in (lines, others)]
    results = indices, one_of_each, sources, kept
    run_elements(queue, write_merged, n, *results, *_numbered(queue, *given, count, across), n)


def merge_values(
    queue: Queue,
    indices: Array,
    merged: Array,
    kept: Array,
    lines: Array,
    others: Array,
    values: Array,
    count: int,
    across: int,
) -> None:
    """The places of entries in order, the sum of the values in each, and how many there are."""
    n = lines.numel
    for each in (indices, merged, kept):
        queue.fill(each, 0)
    if not n:
        return
    given = [contiguous(queue, each) for each in (lines, others)]
    read = *_numbered(queue, *given, count, across), contiguous(queue, values)
    run_elements(queue, write_sums, n, merged, indices, kept, *read, n)


def _numbered(
    queue: Queue, lines: Array, others: Array, count: int, across: int
) -> tuple[Array, Array, Array, Array]:
    """How many places begin up to each entry in order, the order, and where entries are."""
    n = lines.numel
    by_others = sort_positions(queue, others, max(across.bit_length(), 1))
    keys, order = (queue.empty((n,), dtypes.int64) for _ in range(2))
    read_slices(queue, keys, lines, by_others, Folded(1, n, 1))
    by_lines = sort_positions(queue, keys, max(count.bit_length(), 1))
    read_slices(queue, order, by_others, by_lines, Folded(1, n, 1))
    run_elements(queue, flag_places, n, keys, lines, others, order, n)
    return summed(queue, keys), order, lines, others


@device_kernel("int64* int64* int64* int64*", "I")
def flag_places(flags, lines, others, order, n):
    """A thread owns places in the order: 1 where another place than the one before begins."""
    i = I(cuda.grid(1))
    while i < n:
        flags[i] = np.int64(1)
        if i > 0:
            here, before = I(order[i]), I(order[I(i - 1)])
            if lines[here] == lines[before] and others[here] == others[before]:
                flags[i] = np.int64(0)
        i = I(i + cuda.gridsize(1))


@device_kernel("int64* int64* int64* int64* int64* int64* int64* int64*", "I")
def write_merged(indices, one_of_each, sources, kept, numbers, order, lines, others, n):
    """A thread owns places in the order; numbers: how many new entries begin up to each."""
    i = I(cuda.grid(1))
    while i < n:
        number, entry = numbers[i] - 1, order[i]
        sources[I(entry)] = number
        if i == 0 or numbers[I(i - 1)] != numbers[i]:
            one_of_each[I(number)] = entry
            indices[I(number)] = lines[I(entry)]
            indices[I(n + number)] = others[I(entry)]
        if i == n - 1:
            kept[0] = numbers[i]
        i = I(i + cuda.gridsize(1))


@device_kernel("X* int64* int64* int64* int64* int64* int64* X*", "I")
def write_sums(merged, indices, kept, numbers, order, lines, others, values, n):
    """A thread owns places at the distance of the grid, by the first of the entries of each."""
    i = I(cuda.grid(1))
    while i < n:
        number, entry = I(numbers[i] - 1), I(order[i])
        if i == 0 or numbers[I(i - 1)] != numbers[i]:
            total, at = load_X(values[entry]), I(i + 1)
            while at < n and numbers[at] == numbers[i]:
                total = T(total + load_X(values[I(order[at])]))
                at = I(at + 1)
            merged[number] = store_X(total)
            indices[number] = lines[entry]
            indices[I(n + number)] = others[entry]
        if i == n - 1:
            kept[0] = numbers[i]
        i = I(i + cuda.gridsize(1))
