"""Entries by one of their indices, on CUDA: a radix sort."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.reading import read_slices
from torchgen_out._runtime.kernels.cuda.queue import Array, Folded, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.scan.scan import plus, scan, zero
from torchgen_out._runtime.kernels.cuda.sort.radix import sort_positions


def group(queue: Queue, offsets: Array, order: Array, keys: Array, count: int) -> None:
    """order: the places of keys 0, then of keys 1, ...; offsets[k]: where those of k begin in it.

    Keys are in [0, count).
    """
    given = contiguous(queue, keys)
    places = sort_positions(queue, given, max(count.bit_length(), 1))
    queue.copy(order, places)
    numbers = (offsets.numel, keys.numel)
    run_elements(queue, find_begins, offsets.numel, offsets, given, places, *numbers)


@device_kernel("int64* int64* int64*", "I I")
def find_begins(offsets, keys, order, n, count):
    """A thread owns offsets at the distance of the grid: how many keys are less."""
    item = I(cuda.grid(1))
    while item < n:
        low, high = I(0), I(count)
        while low < high:
            middle = I((low + high) // 2)
            if keys[I(order[middle])] < item:
                low = I(middle + 1)
            else:
                high = middle
        offsets[item] = np.int64(low)
        item = I(item + cuda.gridsize(1))


def turn(
    queue: Queue,
    begins: Array,
    rows: Array,
    turned: Array,
    offsets: Array,
    others: Array,
    carried: Array,
    count: int,
) -> None:
    """Entries by rows brought in the order of columns: where each column begins, and the row and
    what is carried with it of each entry in that order."""
    order = queue.empty((rows.numel,), dtypes.int64)
    group(queue, begins, order, others, count)
    given = contiguous(queue, offsets)
    numbers = (rows.numel, offsets.numel)
    if rows.numel:
        run_elements(queue, find_rows, rows.numel, rows, given, order, *numbers)
        read_slices(queue, turned, contiguous(queue, carried), order, Folded(1, rows.numel, 1))


@device_kernel("int64* int64* int64*", "I I")
def find_rows(rows, offsets, order, n, count):
    """A thread owns entries at the distance of the grid: the last row that begins at or before."""
    item = I(cuda.grid(1))
    while item < n:
        low, high = I(0), I(count)
        while low < high:
            middle = I((low + high) // 2)
            if offsets[middle] <= order[item]:
                low = I(middle + 1)
            else:
                high = middle
        rows[item] = np.int64(low - 1)
        item = I(item + cuda.gridsize(1))


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
    by_others = sort_positions(queue, given[1], max(across.bit_length(), 1))
    keys, order = (queue.empty((n,), dtypes.int64) for _ in range(2))
    read_slices(queue, keys, given[0], by_others, Folded(1, n, 1))
    by_lines = sort_positions(queue, keys, max(count.bit_length(), 1))
    read_slices(queue, order, by_others, by_lines, Folded(1, n, 1))
    run_elements(queue, flag_places, n, keys, *given, order, n)
    scan(queue, keys, keys, Folded(1, n, 1), zero, plus)
    results = indices, one_of_each, sources, kept
    run_elements(queue, write_merged, n, *results, keys, order, *given, n)


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
