"""Entries by one of their indices, on CUDA: a radix sort."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.indexing.reading import read_slices
from torchgen_out._runtime.kernels.cuda.queue import Array, Folded, Queue, contiguous, converted
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
    order, made = (queue.empty(rows.sizes, dtypes.int64) for _ in range(2))
    edges = queue.empty(begins.sizes, dtypes.int64)
    group(queue, edges, order, converted(queue, others, dtypes.int64), count)
    queue.copy(begins, edges)
    given = contiguous(queue, converted(queue, offsets, dtypes.int64))
    numbers = (rows.numel, offsets.numel)
    if rows.numel:
        run_elements(queue, find_rows, rows.numel, made, given, order, *numbers)
        queue.copy(rows, made)
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
