"""Contractions of index programs on the CPU: products by BLAS, of what it can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.common.contraction import (
    LEAST,
    Axis,
    Matrices,
    Operand,
    matrices,
)
from torchgen_out._runtime.kernels.common.index import Product
from torchgen_out._runtime.kernels.cpu.matmul import blas, matrix_plans
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
PLAIN, TRANSPOSED, COPIED = 111, 112, 0
UNIT = 16
"""Rows or columns of the result that stay together."""

PRODUCTS = '''\
@inner
def taken(target, flag, x, at, rows, columns, step, hop):
    """(flag, leading dimension, address) of a matrix; what BLAS cannot read is copied."""
    if flag != COPIED:
        leading = step if flag == PLAIN else hop
        return flag, leading, x.ctypes.data + at * x.itemsize
    for i in range(rows):
        for j in range(columns):
            target[i * columns + j] = x[at + i * step + j * hop]
    return PLAIN, columns, target.ctypes.data


@entry
def kernel(start, stop, out, a, b, at_a, at_b, calls, plan):
    """All products, of units of their rows or of their columns from start to stop."""
    flag_a, step_a, hop_a = plan[0], plan[1], plan[2]
    flag_b, step_b, hop_b = plan[3], plan[4], plan[5]
    ld_out, by_rows, unit = plan[6], plan[7], plan[8]
    own_a, own_b = np.empty(plan[9], a.dtype), np.empty(plan[10], b.dtype)
    for i in range(calls.size // 10):
        at = i * 10
        row, last_row, column, last_column = calls[at], calls[at + 1], calls[at + 2], calls[at + 3]
        if by_rows:
            row, last_row = max(row, start * unit), min(last_row, stop * unit)
        else:
            column, last_column = max(column, start * unit), min(last_column, stop * unit)
        inner, k = calls[at + 4], calls[at + 5] - calls[at + 4]
        m, n = last_row - row, last_column - column
        if m <= 0 or n <= 0:
            continue
        place = at_a + calls[at + 7] + row * step_a + inner * hop_a
        order_a, ld_a, from_a = taken(own_a, flag_a, a, place, m, k, step_a, hop_a)
        place = at_b + calls[at + 8] + inner * step_b + column * hop_b
        order_b, ld_b, from_b = taken(own_b, flag_b, b, place, k, n, step_b, hop_b)
        count = take_threads(m * n * k, MOST_ALONE)
        gemm(
            types.int32(ROW_MAJOR),
            types.int32(order_a),
            types.int32(order_b),
            m,
            n,
            k,
            T(1),
            from_a,
            ld_a,
            from_b,
            ld_b,
            T(calls[at + 9]),
            out.ctypes.data + (calls[at + 6] + row * ld_out + column) * out.itemsize,
            ld_out,
        )
        give_threads(count)
'''


def plan_contraction(
    product: Product,
    specs: Sequence[TensorSpec],
    extents: dict[str, int],
    batch: Sequence[int],
    operands: tuple[Operand, Operand, Operand],
) -> LaunchPlan | None:
    """Plan run(out, a, b, at_a, at_b, params), or None where loops are the better way."""
    dtype = specs[0].dtype
    if any(spec.dtype != dtype for spec in specs) or blas.gemm_text(dtype) is None:
        return None
    found = matrices(product, extents, batch, operands)
    if found is None:
        return None
    return _as_one_batch(found, specs) or _Planner(found, specs).plan()


def _as_one_batch(found: Matrices, specs: Sequence[TensorSpec]) -> LaunchPlan | None:
    """The plan of dense products of whole matrices, one or a batch: that of `bmm`."""
    rows, columns, inner, loops, starts, conditions = found
    if conditions or any(starts) or rows.extent * columns.extent * inner.extent < LEAST:
        return None
    sizes = rows.extent, columns.extent
    dense = columns.extent, 1
    if len(loops) > 1 or (rows.strides[0], columns.strides[0]) != dense:
        return None
    if loops and loops[0].strides[0] != rows.extent * columns.extent:
        return None
    batch = [axis.extent for axis in loops]
    steps = [axis.strides for axis in loops]
    dtype = specs[0].dtype
    out = TensorSpec(dtype, (*batch, *sizes), (*[step[0] for step in steps], *dense))
    one, other = (
        TensorSpec(
            dtype,
            (*batch, first.extent, second.extent),
            (*[step[i] for step in steps], first.strides[i], second.strides[i]),
        )
        for i, first, second in ((1, rows, inner), (2, inner, columns))
    )
    return matrix_plans.plan_product(out, one, other)


class _Planner:
    """The way from matrices to calls of BLAS."""

    def __init__(self, found: Matrices, specs: Sequence[TensorSpec]) -> None:
        is_turned = found.columns.strides[0] != 1 and found.rows.strides[0] == 1
        self.order = (0, 2, 1) if is_turned else (0, 1, 2)
        self.found = found.turned if is_turned else found
        self.specs = [specs[i] for i in self.order]

    def plan(self) -> LaunchPlan | None:
        """The plan, in words of BLAS."""
        result = self._result()
        found = self.found
        calls = found.calls()
        if calls is None:
            return None
        is_covered = found.is_covered(calls)
        if not is_covered:
            calls[:, 9] = 1
        rows, columns, inner = (each.extent for each in found[:3])
        one, is_copied = _factor(found.rows, found.inner, 1)
        other, is_other_copied = _factor(found.inner, found.columns, 2)
        own = rows * inner * is_copied, inner * columns * is_other_copied
        by_rows = rows >= columns
        units = -(-(rows if by_rows else columns) // UNIT)
        leading = max(found.rows.strides[0], 1)
        numbers = np.array([*one, *other, leading, by_rows, UNIT, *own], np.int64)
        sizes = calls[:, 1:6:2] - calls[:, 0:6:2]
        work = int(sizes.prod(1).sum()) // 4
        entry = _entry(self.specs[0].dtype)
        run = _runner(entry, units, work, self.order, result, is_covered, calls.reshape(-1))
        return LaunchPlan(run, numbers)

    def _result(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The view into which the result is copied, if BLAS cannot write it as it lies."""
        found = self.found
        if found.columns.strides[0] == 1 and found.rows.strides[0] >= found.columns.extent:
            return None
        axes = [axis for axis in (*found.loops, found.rows, found.columns) if axis.strides[0]]
        view = (
            tuple(axis.extent for axis in axes),
            (
                found.starts[0],
                *(axis.strides[0] for axis in axes),
            ),
        )
        self._packed(0, axes)
        return view

    def _packed(self, tensor: int, axes: Sequence[Axis]) -> None:
        """Give a tensor the strides of a copy that is contiguous along these axes."""
        steps: dict[int, int] = {}
        step = 1
        for axis in reversed(axes):
            steps[id(axis)] = step
            step *= axis.extent

        def changed(axis: Axis) -> Axis:
            strides = list(axis.strides)
            strides[tensor] = steps.get(id(axis), 0)
            return replace(axis, strides=tuple(strides))

        found = self.found
        starts = list(found.starts)
        starts[tensor] = 0
        self.found = Matrices(
            *map(changed, (found.rows, found.columns, found.inner)),
            tuple(map(changed, found.loops)),
            tuple(starts),  # type: ignore[arg-type]
            found.conditions,
        )


def _factor(rows: Axis, columns: Axis, tensor: int) -> tuple[tuple[int, int, int], bool]:
    """How BLAS reads a matrix, its strides, and whether it has to be copied."""
    step, hop = rows.strides[tensor], columns.strides[tensor]
    if hop == 1 and step >= columns.extent:
        return (PLAIN, step, hop), False
    if step == 1 and hop >= rows.extent:
        return (TRANSPOSED, step, hop), False
    return (COPIED, step, hop), True


def _entry(dtype: Any) -> Callable[..., Any]:
    """The kernel of a dtype."""
    title = f"contraction: {dtype.name}."
    text = blas.alone_text(blas.gemm_text(dtype))
    assert text is not None
    text = "\n\n".join([build.HEADER.format(title=title), text, "COPIED = 0", PRODUCTS])
    numbers = np.dtype(np.int64)
    arguments = (int, int, dtype, dtype, dtype, int, int, numbers, numbers)
    return build.entry_point(f"contraction_{dtype.name}", text, arguments)


def _runner(
    entry: Callable[..., Any],
    units: int,
    work: int,
    order: Sequence[int],
    result: Any,
    is_covered: bool,
    calls: Array,
) -> Callable[..., None]:
    """run(out, a, b, at_a, at_b, params)."""

    def run(out: Array, one: Array, other: Array, at_one: int, at_other: int, plan: Array) -> None:
        given = (out, one, other)
        starts = (0, at_one, at_other)
        factors = [given[i] for i in order[1:]]
        offsets = [starts[i] for i in order[1:]]
        target = out if result is None else np.empty(prod(result[0]), out.dtype)
        if not is_covered:
            target[...] = 0
        args = (target, *factors, *offsets, calls, plan)
        if work < 2 * threads.GRAIN:
            entry(0, units, *args)
        else:
            threads.run_ranges(entry, units, work, *args)
        if result is not None:
            _view(out, result)[...] = target.reshape(result[0])

    return run


def _view(flat: Array, view: Any) -> Array:
    sizes, (start, *strides) = view
    steps = [stride * flat.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(flat[start:], sizes, steps)
