"""Planned products of matrices: shapes, flags and leading dimensions found once per geometry.

Products of middle size are our own, the others are OpenBLAS's. What BLAS cannot read without a
copy, and empty matrices get no plan: they are left to `runtime.kernels.cpu.matmul.blas`.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.matmul import (
    few_columns,
    few_rows,
    integers,
    shared,
    small_batches,
    tiled,
)
from torchgen_out._runtime.kernels.cpu.matmul.shared import PLAIN, TRANSPOSED
from torchgen_out._runtime.kernels.cpu.matmul.tiled import Layout, Task
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Geometry = tuple[tuple[int, ...], tuple[int, ...]]
"""Sizes and strides of a matrix."""


FEW = 1 << 13
"""Elements of a complex matrix up to which a vector is as good as a matrix of one column."""


def plan_product(out: TensorSpec, a: TensorSpec, b: TensorSpec) -> LaunchPlan | None:
    """LaunchPlan (m, k) @ (k, n), or the same for each of a batch."""
    if out.dtype.kind != "f":
        whole = integers.plan_product(out, a, b)
        if whole is not None:
            return whole
    (_, sizes_a, strides_a), (_, sizes_b, strides_b) = a, b
    batch, step_a, step_b = 1, 0, 0
    if len(sizes_a) == 2 and 1 in (sizes_a[0], sizes_b[1]):
        vector = _plan_vector(out, _vector_numbers((sizes_a, strides_a), (sizes_b, strides_b)))
        if vector is not None:
            return vector
    rows, columns = (sizes_a[-2:], strides_a[-2:]), (sizes_b[-2:], strides_b[-2:])
    if len(sizes_a) == 3:
        batch, step_a, step_b = sizes_a[0], strides_a[0], strides_b[0]
        steps = (*strides_a[1:], step_a), (*strides_b[1:], step_b)
        sizes = *sizes_a[1:], sizes_b[2]
        small = small_batches.plan_batch(out.dtype, batch, sizes, *steps, _leading(rows))
        if small is not None:
            return small
    own = _own_plan(out.dtype, batch, rows, step_a, columns, step_b)
    if own is not None:
        return own
    numbers = batch_numbers(batch, rows, step_a, columns, step_b)
    return None if numbers is None else _plan_products(out.dtype, numbers)


def plan_mv(out: TensorSpec, matrix: TensorSpec, vector: TensorSpec) -> LaunchPlan | None:
    """LaunchPlan (m, k) @ (k)."""
    if out.dtype.kind in "iu":
        return integers.plan_product(out, matrix, vector)
    found = _plan_vector(out, vector_numbers(matrix, vector))
    if found is None and prod(matrix.sizes) <= FEW:
        return plan_product(out, matrix, as_column(vector))
    return found


def as_column(vector: TensorSpec) -> TensorSpec:
    """A vector as a matrix of one column; a number as one that is repeated."""
    return vector._replace(sizes=(*vector.sizes, 1), strides=(*vector.strides, 1))


def vector_numbers(matrix: TensorSpec, vector: TensorSpec) -> Any:
    """What the kernel reads for (m, k) @ (k); None if BLAS cannot do it."""
    columns = (*vector.sizes, 1), (*vector.strides, 1)
    return _vector_numbers((matrix.sizes, matrix.strides), columns)


def plan_linear(
    out: TensorSpec, input: TensorSpec, weight: TensorSpec, bias: TensorSpec | None = None
) -> LaunchPlan | None:
    """Plan input @ weight.T + bias, all rows of the input in one product."""
    rows = _as_rows(input)
    if rows is None or len(weight.sizes) != 2:
        return None
    columns = (weight.sizes[::-1], weight.strides[::-1])
    has_bias = bias is not None
    if has_bias and (bias.sizes != weight.sizes[:1] or bias.strides != (1,)):
        return None
    if 1 in (rows[0][0], columns[0][1]):
        numbers = _vector_numbers(rows, columns)
        vector = _plan_biased(out, numbers) if has_bias else _plan_vector(out, numbers)
        if vector is not None:
            return vector
    own = _own_plan(out.dtype, 1, rows, 0, columns, 0, Layout(0, 1) if has_bias else None)
    if own is not None:
        return own
    numbers = batch_numbers(1, rows, 0, columns, 0)
    if numbers is None:
        return None
    if has_bias:
        text = shared.AFFINE
        return shared.plan_products("affine_rows", text, out.dtype, 3, numbers)
    return _plan_products(out.dtype, numbers)


def _plan_biased(out: TensorSpec, numbers: Any) -> LaunchPlan | None:
    """Plan a column to which one number is added, or a row to which another is; that comes last."""
    if numbers is None:
        return None
    is_row = numbers[5]
    own = np.concatenate([numbers, [is_row], np.ones(2).view(np.int64)])
    plan = plan_added_vector(out, own)
    if plan is None:
        return None

    def run_column(
        flat: Any, a: Any, b: Any, bias: Any, at_a: int, at_b: int, at: int, numbers: Any
    ) -> None:
        plan.run(flat, bias, a, b, at, at_a, at_b, numbers)

    def run_row(
        flat: Any, a: Any, b: Any, bias: Any, at_a: int, at_b: int, at: int, numbers: Any
    ) -> None:
        plan.run(flat, bias, b, a, at, at_b, at_a, numbers)

    return LaunchPlan(run_row if is_row else run_column, plan.params)


def plan_added_vector(out: TensorSpec, numbers: Any) -> LaunchPlan | None:
    """Plan the product of a matrix and a vector that is added to something.

    numbers: of the product, the step of what it is added to, and the bits of both factors.
    """
    own = few_columns.plan_vector(out.dtype, numbers, is_added=True)
    count, work = prod(out.sizes), prod(numbers[:2])
    return own or shared.plan_added_vector(out.dtype, numbers, count, work)


def plan_addmm(
    out: TensorSpec, self: TensorSpec, mat1: TensorSpec, mat2: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan self + mat1 @ mat2 where it is a product of our own, self being a row or a matrix."""
    if beta != 1 or alpha != 1 or self.sizes not in (out.sizes, out.sizes[1:]):
        return None
    before = Layout(0, *self.strides) if len(self.sizes) == 1 else Layout(*self.strides)
    a, b = (mat1.sizes, mat1.strides), (mat2.sizes, mat2.strides)
    return None if before.step != 1 else _self_first(_own_plan(out.dtype, 1, a, 0, b, 0, before))


def plan_baddbmm(
    out: TensorSpec, self: TensorSpec, batch1: TensorSpec, batch2: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """The same for each of a batch.

    As what they are added to is not copied first, smaller products are worth it, too.
    """
    if beta != 1 or alpha != 1 or self.sizes != out.sizes or self.strides[2] != 1:
        return None
    before = Layout(*self.strides[1:], self.strides[0])
    geometries = [(each.sizes[1:], each.strides[1:]) for each in (batch1, batch2)]
    steps = batch1.strides[0], batch2.strides[0]
    (a, b), count = geometries, out.sizes[0]
    plan = _own_plan(out.dtype, count, a, steps[0], b, steps[1], before, is_dear=True)
    return _self_first(plan)


def _self_first(plan: LaunchPlan | None) -> LaunchPlan | None:
    """A plan for flat arrays and offsets in the order of the operators that add."""
    if plan is None:
        return None

    def run(
        flat: Any, self: Any, a: Any, b: Any, at: int, at_a: int, at_b: int, numbers: Any
    ) -> None:
        plan.run(flat, a, b, self, at_a, at_b, at, numbers)

    return LaunchPlan(run, plan.params)


def _own_plan(
    dtype: Any,
    batch: int,
    a: Geometry,
    step_a: int,
    b: Geometry,
    step_b: int,
    before: Layout | None = None,
    is_dear: bool = False,
) -> LaunchPlan | None:
    """The plan of a product of our own, for sizes at which it takes less time.

    is_dear: OpenBLAS takes longer, whatever the strides.
    """
    (m, k), n = a[0], b[0][1]
    layouts = Layout(*a[1], step_a), Layout(*b[1], step_b)
    task = Task(batch, (m, n, k), *layouts, Layout(n, 1, m * n), before or Layout(0, 1))
    is_added = before is not None
    if few_rows.suits(dtype, m, n, k, task.b):
        return few_rows.plan_rows(dtype, task, is_added)
    if few_rows.suits_columns(dtype, m, n, k, task.a):
        return few_rows.plan_columns(dtype, task, is_added)
    if not tiled.suits(dtype, m, n, k, is_dear or b[1][1] != 1):
        return None
    return tiled.plan_tiles(dtype, task, is_added)


def _as_rows(operand: TensorSpec) -> Geometry | None:
    """The matrix of all rows, if their distances are all the same."""
    _, sizes, strides = operand
    if len(sizes) < 2:
        return None
    for outer, inner in pairwise(range(len(sizes) - 1)):
        if strides[outer] != sizes[inner] * strides[inner]:
            return None
    count = 1
    for size in sizes[:-1]:
        count *= size
    return (count, sizes[-1]), (strides[-2], strides[-1])


def _vector_numbers(a: Geometry, b: Geometry) -> Any:
    """What the kernel reads for one column on the right or, seen from behind, one row on the left.

    None if BLAS cannot do it.
    """
    (m, k), (_, n) = a[0], b[0]
    if n == 1:
        rows, step, is_right = a, b[1][0], 0
    else:
        rows, step, is_right = (b[0][::-1], b[1][::-1]), a[1][1], 1
    leading = _leading(rows)
    if leading is None or not m * n * k or (step < 1 and k > 1):
        return None
    flag, ld = leading
    sizes = rows[0] if flag == PLAIN else rows[0][::-1]
    return np.array([*sizes, flag, ld, max(step, 1), is_right], np.int64)


def batch_numbers(batch: int, a: Geometry, step_a: int, b: Geometry, step_b: int) -> Any:
    """What the kernels read, in one array; None if BLAS cannot do it."""
    (m, k), (_, n) = a[0], b[0]
    leading_a, leading_b = _leading(a), _leading(b)
    if leading_a is None or leading_b is None or not batch * m * n * k:
        return None
    return np.array([m, n, k, *leading_a, *leading_b, batch, step_a, step_b], np.int64)


def _leading(matrix: Geometry) -> tuple[int, int] | None:
    """The flag and the leading dimension of a matrix in BLAS's words."""
    (rows, columns), (row_stride, column_stride) = matrix
    if (column_stride == 1 or columns == 1) and (row_stride >= columns or rows == 1):
        return PLAIN, max(columns if rows == 1 else row_stride, 1)
    if (row_stride == 1 or rows == 1) and (column_stride >= rows or columns == 1):
        return TRANSPOSED, max(rows if columns == 1 else column_stride, 1)
    return None


def _plan_products(dtype: Any, numbers: Any) -> LaunchPlan | None:
    return shared.plan_products("products", shared.PRODUCTS, dtype, 2, numbers)


def _plan_vector(out: TensorSpec, numbers: Any) -> LaunchPlan | None:
    if numbers is None:
        return None
    own = few_columns.plan_vector(out.dtype, numbers, is_added=False)
    return own or shared.plan_vector(out.dtype, numbers, prod(out.sizes), prod(numbers[:2]))
