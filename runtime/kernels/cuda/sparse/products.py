"""Products over the entries of sparse matrices, row by row, on CUDA.

A result has one thread, which goes through the row's entries in order: sums do not depend on the
grid.
"""

from __future__ import annotations

from typing import Any

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
    _fold(queue, out, offsets, others, values, mat, order, FOLD=reduce)


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
    fold = "amax" if is_max else "amin"
    _fold(queue, out, offsets, others, values, mat, order, chosen, FOLD=fold, TELLS=True)


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
    _fold(queue, out, offsets, others, values, mat, order, chosen, OF_CHOSEN=True)


def _fold(
    queue: Queue,
    out: Array,
    offsets: Array,
    others: Array,
    values: Array,
    mat: Array,
    order: Array | None,
    chosen: Array | None = None,
    **flags: Any,
) -> None:
    if not out.numel:
        return
    places = offsets if order is None else order
    given = [contiguous(queue, each) for each in (values, mat, offsets, others, places)]
    if chosen is not None:
        chosen = contiguous(queue, chosen)
    fold = flags.pop("FOLD", "sum")
    flags = {"TELLS": False, "OF_CHOSEN": False, **flags}
    flags |= {"HAS_ORDER": order is not None, "IS_SUM": fold == "sum", "IS_MAX": fold == "amax"}
    flags["IS_NARROW"] = chosen is not None and chosen.dtype is dtypes.int32
    numbers = (out.numel, out.sizes[1])
    run_elements(
        queue, fold_rows, out.numel, out, *given[:2], chosen, *given[2:], *numbers, **flags
    )


@device_kernel("X* X* X* Z* Y* Y* Y*", "I I")
def fold_rows(out, values, mat, chosen, offsets, others, order, n, width):
    """A thread owns results at the distance of the grid: a column of a row."""
    item = I(cuda.grid(1))
    while item < n:
        row = divided(item, width)
        column = I(item - row * width)
        total, found = T(0), np.int64(-1)
        for k in range(offsets[row], offsets[row + 1]):
            entry = np.int64(order[k] if HAS_ORDER else k)
            at = I(I(others[k]) * width + column)
            is_asked = chosen[at] == entry if OF_CHOSEN else True
            if IS_SUM:
                if is_asked:
                    total = T(total + load_X(values[entry]) * load_X(mat[at]))
            else:
                product = T(load_X(values[entry]) * load_X(mat[at]))
                is_beyond = product > total if IS_MAX else product < total
                if (found < 0) | is_beyond | ((product != product) & (total == total)):
                    total, found = product, entry
        out[item] = store_X(total)
        if TELLS:
            chosen[item] = np.int32(found) if IS_NARROW else found
        item = I(item + cuda.gridsize(1))
