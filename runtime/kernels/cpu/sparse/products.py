"""Products over the entries of sparse matrices, row by row.

Threads share rows by the number of their entries; one row is one thread's, so that sums do not
depend on how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.sparse import row_dots
from torchgen_out._runtime.kernels.cpu.sparse.row_folds import RowFolds, lanes_of, row_at
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

PARTS = 64
"""Parts of about equally much work, which threads take: several for each."""
ROW_DOTS = row_dots.RowDots()
WORDS = {"sum": "add", "amax": "max", "amin": "min"}
FOLDS = {how: RowFolds(word) for how, word in WORDS.items()}
KEEPERS = {how: RowFolds(WORDS[how], "keep") for how in ("amax", "amin")}
CHOSEN = RowFolds("add", "check")


@planned()
def spmm(
    result: TensorSpec,
    offsets: TensorSpec,
    others: TensorSpec,
    values: TensorSpec,
    mat: TensorSpec,
    order: TensorSpec | None,
    reduce: str,
) -> LaunchPlan:
    """Plan out[row] = the fold of values[e] * mat[others[e]] over a row's entries.

    The entries of a row are those from offsets[row] to offsets[row + 1]; order: where the value of
    each lies, if not there. reduce: "sum", in the entries' order, "amax" or "amin"; rows without
    entries are zero.
    """
    if not result.numel:
        return NOTHING
    (rows, width), count = result.sizes, others.numel
    work = (count + rows) * (width + 2)
    parts = PARTS if work >= 2 * threads.GRAIN else 1
    views = operand(0, rows + 1), operand(1, count), operand(2, count)
    matrices = out(0, rows, width), operand(3, *mat.sizes)
    how: tuple[Any, ...] = ()
    if result.dtype.kind == "f" and width >= lanes_of(result.dtype):
        loop: Any = FOLDS[reduce]
    elif reduce != "sum":
        loop, how = fold_extremes, (reduce == "amax",)
    elif width == 1:
        loop = ROW_DOTS if row_dots.is_for(result.dtype) else fold_column
        matrices = out(0, rows), operand(3, mat.numel)
    else:
        loop = fold_few
    given = [offsets, others, values, mat]
    shown = matrices[0], *views, matrices[1], parts, *how
    plan = plan_ranges(loop, parts, work, [result], given, *shown)
    return plan if order is None else _in_order(plan, count)


def _in_order(plan: LaunchPlan, count: int) -> LaunchPlan:
    """The plan over values that are brought in the entries' order first."""

    def run(*args: Any) -> Any:
        result, offsets, others, values, mat, order, *places, params = args
        at_values, at_order = places[2], places[4]
        chosen = order[at_order : at_order + count]
        ordered = values[at_values : at_values + count].take(chosen)
        return plan.run(result, offsets, others, ordered, mat, *places[:2], 0, places[3], params)

    return LaunchPlan(run, plan.params)


@typed
def fold_column(first, last, result, offsets, others, values, mat, parts):
    """Parts of rows of one column: sums."""
    begin, end = row_at(offsets, first, parts), row_at(offsets, last, parts)
    k = np.uint64(offsets[begin])
    for row in range(begin, end):
        stop, total = np.uint64(offsets[row + 1]), T(0)
        while k < stop:
            total += values[k] * mat[np.uint64(others[k])]
            k += np.uint64(1)
        result[row] = total


@typed
def fold_few(first, last, result, offsets, others, values, mat, parts):
    """Parts of rows of few columns, or of elements that are no floats: sums."""
    width = np.uint64(mat.shape[1])
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        r = np.uint64(row)
        for i in range(width):
            result[r, i] = T(0)
        for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            p, value = np.uint64(others[k]), values[k]
            for i in range(width):
                result[r, i] += value * mat[p, i]


@typed
def fold_extremes(first, last, result, offsets, others, values, mat, parts, is_max):
    """Parts of rows of few columns, or of integers: extremes; NaN wins."""
    width = np.uint64(mat.shape[1])
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        r, begin, stop = np.uint64(row), np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        for i in range(width):
            best = T(0)
            for k in range(begin, stop):
                product = T(values[k] * mat[np.uint64(others[k]), i])
                is_beyond = product > best if is_max else product < best
                best = product if (k == begin) | is_beyond | (product != product) else best
            result[r, i] = best


@planned(results=2)
def spmm_extreme(
    result: TensorSpec,
    chosen: TensorSpec,
    offsets: TensorSpec,
    others: TensorSpec,
    values: TensorSpec,
    mat: TensorSpec,
    is_max: bool,
    order: TensorSpec | None,
) -> LaunchPlan:
    """Plan `spmm` with the greatest or the least product in place of their sum, and its entry.

    Rows without entries are zero; their entry is -1. NaN wins, the first of several.
    """
    if not result.numel:
        return NOTHING
    (rows, width), count = result.sizes, others.numel
    work = (count + rows) * (width + 2) * 2
    parts = PARTS if work >= 2 * threads.GRAIN else 1
    views = operand(0, rows + 1), operand(1, count), operand(2, count), operand(3, *mat.sizes)
    places = None if order is None else operand(4, count)
    outs, given = [result, chosen], [offsets, others, values, mat, order]
    shown = out(0, rows, width), out(1, rows, width), *views, places, parts
    if _fills_vectors(result, others, order):
        keeper = KEEPERS["amax" if is_max else "amin"]
        return plan_ranges(keeper, parts, work, outs, given, *shown)
    return plan_ranges(keep_extremes, parts, work, outs, given, *shown, is_max)


def _fills_vectors(result: TensorSpec, others: TensorSpec, order: TensorSpec | None) -> bool:
    """Whether rows have vectors of floats, and entries one dtype of indices."""
    has_one = order is None or order.dtype == others.dtype
    return result.dtype.kind == "f" and result.sizes[1] >= lanes_of(result.dtype) and has_one


@typed
def keep_extremes(first, last, result, chosen, offsets, others, values, mat, order, parts, is_max):
    """Each column's extreme product, and where it comes from; without branches, so that columns
    vectorise."""
    width, has_order, sign = np.uint64(mat.shape[1]), order.size > 0, T(1) if is_max else T(-1)
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        r, begin, stop = np.uint64(row), np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        for i in range(width):
            result[r, i], chosen[r, i] = T(0), np.int32(-1)
        for k in range(begin, stop):
            e, p = np.int64(order[k]) if has_order else np.int64(k), np.uint64(others[k])
            value, is_first = values[np.uint64(e)], k == begin
            for i in range(width):
                product, old, before = value * mat[p, i], result[r, i], chosen[r, i]
                is_beyond = (sign * product > sign * old) | ((product != product) & (old == old))
                is_new = is_beyond | is_first
                result[r, i] = product if is_new else old
                chosen[r, i] = e if is_new else before


@planned()
def spmm_chosen(
    result: TensorSpec,
    offsets: TensorSpec,
    others: TensorSpec,
    values: TensorSpec,
    mat: TensorSpec,
    chosen: TensorSpec,
    order: TensorSpec,
) -> LaunchPlan:
    """Plan `spmm` of those products only whose entry an element of mat chose.

    The entries of a row are order[offsets[row]], ...; chosen[p, i] is the entry that mat[p, i] is
    the gradient of, so that a row's sums need no scatter.
    """
    if not result.numel:
        return NOTHING
    (rows, width), count = result.sizes, others.numel
    work = (count + rows) * (width + 2) * 2
    parts = PARTS if work >= 2 * threads.GRAIN else 1
    views = operand(0, rows + 1), operand(1, count), operand(2, count), operand(3, *mat.sizes)
    given = [offsets, others, values, mat, chosen, order]
    shown = out(0, rows, width), operand(4, *mat.sizes), *views, operand(5, count), parts
    loop = CHOSEN if _fills_vectors(result, others, order) else add_chosen
    return plan_ranges(loop, parts, work, [result], given, *shown)


@typed
def add_chosen(first, last, result, chosen, offsets, others, values, mat, order, parts):
    """Sums without branches, so that columns vectorise."""
    width = np.uint64(mat.shape[1])
    for row in range(row_at(offsets, first, parts), row_at(offsets, last, parts)):
        r = np.uint64(row)
        for i in range(width):
            result[r, i] = T(0)
        for k in range(np.uint64(offsets[row]), np.uint64(offsets[row + 1])):
            e, p = order[k], np.uint64(others[k])
            value = values[np.uint64(e)]
            for i in range(width):
                result[r, i] += value * mat[p, i] if chosen[p, i] == e else T(0)
