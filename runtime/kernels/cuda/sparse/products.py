"""Products over the entries of sparse matrices, row by row, on CUDA.

A result has one thread, which goes through the row's entries in order: sums do not depend on the
grid.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def spmm(
    queue: Queue,
    out: Array,
    offsets: Array,
    others: Array,
    values: Array,
    mat: Array,
    order: Array | None,
    reduce: str,
) -> None:
    """out[row] = the fold of values[e] * mat[others[e]] over a row's entries, in their order.

    reduce: "sum", "amax" or "amin"; rows without entries are zero.
    """
    if not out.numel:
        return
    places = offsets if order is None else order
    arrays = [contiguous(queue, each) for each in (values, mat, offsets, others, places)]
    buffer = contiguous(queue, out)
    numbers = (out.numel, out.sizes[1])
    given = {"HAS_ORDER": order is not None, "IS_SUM": reduce == "sum", "IS_MAX": reduce == "amax"}
    run_elements(queue, fold_rows, out.numel, buffer, *arrays, *numbers, **given)
    if buffer is not out:
        queue.copy(out, buffer)


@device_kernel("X* X* X* Y* Y* Y*", "I I")
def fold_rows(out, values, mat, offsets, others, order, n, width):
    """A thread owns results at the distance of the grid: a column of a row."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, width)
        column = I(item - row * width)
        total = T(0)
        for k in range(offsets[row], offsets[row + 1]):
            at = I(order[k]) if HAS_ORDER else I(k)
            product = T(load_X(values[at]) * load_X(mat[I(I(others[k]) * width + column)]))
            if IS_SUM:
                total = T(total + product)
            else:
                is_beyond = product > total if IS_MAX else product < total
                if (k == offsets[row]) | is_beyond | (product != product):
                    total = product
        out[item] = store_X(total)
        item = I(item + cuda.gridsize(1))


def spmm_extreme(
    queue: Queue,
    out: Array,
    chosen: Array,
    offsets: Array,
    others: Array,
    values: Array,
    mat: Array,
    is_max: bool,
    order: Array | None,
) -> None:
    """As `spmm` with the greatest or the least product in place of their sum, and its entry."""
    if not out.numel:
        return
    places = offsets if order is None else order
    arrays = [contiguous(queue, each) for each in (values, mat, chosen, offsets, others, places)]
    is_narrow = chosen.dtype is dtypes.int32
    given = {"IS_MAX": is_max, "HAS_ORDER": order is not None, "IS_NARROW": is_narrow}
    run_elements(queue, keep_extremes, out.numel, out, *arrays, out.numel, out.sizes[1], **given)


@device_kernel("X* X* X* Z* Y* Y* Y*", "I I")
def keep_extremes(out, values, mat, chosen, offsets, others, order, n, width):
    """A thread owns results at the distance of the grid: a column of a row."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, width)
        column = I(item - row * width)
        best, found = T(0), np.int64(-1)
        for k in range(offsets[row], offsets[row + 1]):
            at = np.int64(order[k] if HAS_ORDER else k)
            product = T(load_X(values[at]) * load_X(mat[I(I(others[k]) * width + column)]))
            is_beyond = product > best if IS_MAX else product < best
            if (found < 0) | is_beyond | ((product != product) & (best == best)):
                best, found = product, at
        out[item] = store_X(best)
        chosen[item] = np.int32(found) if IS_NARROW else found
        item = I(item + cuda.gridsize(1))


def spmm_chosen(
    queue: Queue,
    out: Array,
    offsets: Array,
    others: Array,
    values: Array,
    mat: Array,
    chosen: Array,
    order: Array,
) -> None:
    """As `spmm` of those products only whose entry an element of mat chose."""
    if not out.numel:
        return
    arrays = [contiguous(queue, each) for each in (values, mat, chosen, offsets, others, order)]
    run_elements(queue, add_chosen, out.numel, out, *arrays, out.numel, out.sizes[1])


@device_kernel("X* X* X* Z* Y* Y* Y*", "I I")
def add_chosen(out, values, mat, chosen, offsets, others, order, n, width):
    """A thread owns results at the distance of the grid: a column of a row."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, width)
        column = I(item - row * width)
        total = T(0)
        for k in range(offsets[row], offsets[row + 1]):
            at = I(I(others[k]) * width + column)
            if chosen[at] == order[k]:
                total = T(total + load_X(values[order[k]]) * load_X(mat[at]))
        out[item] = store_X(total)
        item = I(item + cuda.gridsize(1))
