"""Plans of LU factorisations of small matrices, and of what is solved with them: the functions of
`lu`, without the arrays of several dims around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.linalg import complex_triangles, lu, lu_by_columns
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import Stack, sizes_text, stack_of
from torchgen_out._runtime.kernels.cpu.loop_plans import refusing
from torchgen_out._runtime.kernels.cpu.small import INT64
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

FLAT = '''\
@called
def copy_matrix(to, a, at, row_step, column_step):
    for i in range(to.shape[0]):
        for j in range(to.shape[1]):
            to[i, j] = a[at + i * row_step + j * column_step]


@called
def factor_matrix(factors, swaps, panel, block, a, at, row_step, column_step):
    """Copy one matrix and factorise it; the number of the first zero pivot."""
    copy_matrix(factors, a, at, row_step, column_step)
    return factor(factors, swaps, panel, block)


@called
def solve_matrix(factors, swaps, block, x):
    permute(x, swaps, False)
    solve_triangle(factors, x, block, False, True, PLAIN)
    solve_triangle(factors, x, block, True, False, PLAIN)


@entry
def factor_flat(factors, pivots, info, a, at, plan):
    count, n = plan[0], rows_in(plan)
    panel, block = np.empty((BLOCK, n + 16), T), np.empty((BLOCK, BLOCK), T)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n].reshape((n, n))
        swaps = pivots[m * n : (m + 1) * n]
        info[m] = factor_matrix(own, swaps, panel, block, a, at + m * plan[2], plan[3], plan[4])


@entry
def determine_flat(out, factors, pivots, a, at, plan):
    """The products of the diagonals, with the signs of the exchanges."""
    count, n = plan[0], rows_in(plan)
    panel, block = np.empty((BLOCK, n + 16), T), np.empty((BLOCK, BLOCK), T)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n].reshape((n, n))
        swaps = pivots[m * n : (m + 1) * n]
        factor_matrix(own, swaps, panel, block, a, at + m * plan[2], plan[3], plan[4])
        product = T(1)
        for j in range(n):
            product *= own[j, j] if swaps[j] == j + 1 else -own[j, j]
        out[m] = product


@entry
def measure_flat(sign, logarithm, factors, pivots, a, at, plan):
    """The sign, and the sum of the logarithms of the diagonal's magnitudes."""
    count, n = plan[0], rows_in(plan)
    panel, block = np.empty((BLOCK, n + 16), T), np.empty((BLOCK, BLOCK), T)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n].reshape((n, n))
        swaps = pivots[m * n : (m + 1) * n]
        factor_matrix(own, swaps, panel, block, a, at + m * plan[2], plan[3], plan[4])
        direction, total = T(1), 0.0
        for j in range(n):
            value = own[j, j] if swaps[j] == j + 1 else -own[j, j]
            direction *= T(np.sign(value))
            total += math.log(abs(np.float64(value)))
        sign[m] = direction
        logarithm[m] = total


@entry
def invert_flat(inverse, info, a, at, plan):
    count, n = plan[0], rows_in(plan)
    panel, block = np.empty((BLOCK, n + 16), T), np.empty((BLOCK, BLOCK), T)
    factors, swaps = np.empty((n, n), T), np.empty(n, np.int32)
    for m in range(count):
        own = inverse[m * n * n : (m + 1) * n * n].reshape((n, n))
        info[m] = factor_matrix(factors, swaps, panel, block, a, at + m * plan[2], plan[3], plan[4])
        for i in range(n):
            for j in range(n):
                own[i, j] = T(1) if i == j else T(0)
        solve_matrix(factors, swaps, block, own)


@entry
def solve_flat(x, factors, pivots, info, a, b, at, at_b, plan):
    count, n, columns = plan[0], rows_in(plan), sides_in(plan)
    panel, block = np.empty((BLOCK, n + 16), T), np.empty((BLOCK, BLOCK), T)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n].reshape((n, n))
        swaps = pivots[m * n : (m + 1) * n]
        info[m] = factor_matrix(own, swaps, panel, block, a, at + m * plan[2], plan[3], plan[4])
        right = x[m * n * columns : (m + 1) * n * columns].reshape((n, columns))
        copy_matrix(right, b, at_b + m * plan[6], plan[7], plan[8])
        solve_matrix(own, swaps, block, right)


@called
def write_by_columns(to, at, x):
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            to[at + j * x.shape[0] + i] = x[i, j]


@called
def are_rows(pivots, at, count, n, step):
    for m in range(count):
        for i in range(n):
            if not 1 <= pivots[at + m * step + i] <= n:
                return False
    return True


@entry
def solve_factored_flat(x, a, pivots, b, at, at_pivots, at_b, plan):
    """is_left: whether x is not the transposed one. False, and nothing written, for a pivot that
    is no row."""
    count, n, columns = plan[0], rows_in(plan), sides_in(plan)
    flag, is_left, step, size = plan[6], plan[7] != 0, plan[11], n * columns
    if not are_rows(pivots, at_pivots, 1 if step == 0 else count, n, step):
        return False
    block, factors = np.empty((BLOCK, BLOCK), T), np.empty((n, n), T)
    apart = np.empty(0 if is_left else size, T)
    for m in range(count):
        copy_matrix(factors, a, at + m * plan[2], plan[3], plan[4])
        swaps = pivots[at_pivots + m * step : at_pivots + m * step + n]
        right = (x[m * size : (m + 1) * size] if is_left else apart).reshape((n, columns))
        copy_matrix(right, b, at_b + m * plan[8], plan[9], plan[10])
        if flag == PLAIN:
            permute(right, swaps, False)
        solve_triangle(factors, right, block, False, flag == PLAIN, flag)
        solve_triangle(factors, right, block, True, flag != PLAIN, flag)
        if flag != PLAIN:
            permute(right, swaps, True)
        if not is_left:
            write_by_columns(x, m * size, right)
    return True


@entry
def solve_triangle_flat(x, triangle, b, at, at_b, plan):
    """upper, flag: of the triangle as it is used; is_left: whether x is not the transposed one."""
    count, n, columns = plan[0], rows_in(plan), sides_in(plan)
    upper, unit, flag = plan[3], plan[4], plan[5]
    step, is_left, size = plan[6], plan[7] != 0, n * columns
    block, apart = np.empty((BLOCK, BLOCK), T), np.empty(0 if is_left else size, T)
    for m in range(count):
        own = triangle[at + m * step : at + m * step + n * n].reshape((n, n))
        right = (x[m * size : (m + 1) * size] if is_left else apart).reshape((n, columns))
        copy_matrix(right, b, at_b + m * plan[8], plan[9], plan[10])
        solve_triangle(own, right, block, upper != 0, unit != 0, flag)
        if not is_left:
            write_by_columns(x, m * size, right)


@entry
def solve_definite_flat(x, b, factor, at_b, at, plan):
    """x = A^-1 b, by columns, for a factor of A: each triangle as it is, and transposed."""
    count, n, columns, upper = plan[0], rows_in(plan), sides_in(plan), plan[3] != 0
    block, triangle = np.empty((BLOCK, BLOCK), T), np.empty((n, n), T)
    right = np.empty((n, columns), T)
    first, second = (TRANSPOSED, PLAIN) if upper else (PLAIN, TRANSPOSED)
    for m in range(count):
        if m == 0 or plan[7] != 0:
            copy_matrix(triangle, factor, at + m * plan[7], plan[8], plan[9])
        copy_matrix(right, b, at_b + m * plan[4], plan[5], plan[6])
        solve_triangle(triangle, right, block, False, False, first)
        solve_triangle(triangle, right, block, True, False, second)
        write_by_columns(x, m * n * columns, right)
'''


SIDES = {
    "solve_flat": 5,
    "solve_factored_flat": 5,
    "solve_triangle_flat": 2,
    "solve_definite_flat": 2,
}
"""Where a plan has the number of right-hand sides."""


def plan_factor(
    LU: TensorSpec,
    pivots: TensorSpec,
    info: TensorSpec,
    A: TensorSpec,
    pivot: bool,
    check_errors: bool,
) -> LaunchPlan | None:
    """Plan `linalg_lu_factor_ex` without errors."""
    if check_errors:
        return None
    if _is_by_columns(LU):
        return lu_by_columns.plan_factor(LU, pivots, info, A)
    return _plan_square("factor_flat", [LU, pivots, info], A)


def plan_det(
    result: TensorSpec, LU: TensorSpec, pivots: TensorSpec, A: TensorSpec
) -> LaunchPlan | None:
    """Plan `_linalg_det`."""
    if _is_by_columns(LU):
        outs = [result, LU, pivots]
        return lu_by_columns.plan_square(lu_by_columns.DETERMINANT, outs, LU, A)
    return _plan_square("determine_flat", [result, LU, pivots], A)


def plan_slogdet(
    sign: TensorSpec, logabsdet: TensorSpec, LU: TensorSpec, pivots: TensorSpec, A: TensorSpec
) -> LaunchPlan | None:
    """Plan `_linalg_slogdet`."""
    if _is_by_columns(LU):
        outs = [sign, logabsdet, LU, pivots]
        return lu_by_columns.plan_square(lu_by_columns.MEASURE, outs, LU, A)
    return _plan_square("measure_flat", [sign, logabsdet, LU, pivots], A)


def plan_inverse(
    inverse: TensorSpec, info: TensorSpec, A: TensorSpec, check_errors: bool
) -> LaunchPlan | None:
    """Plan `linalg_inv_ex` without errors."""
    if check_errors or not inverse.is_contiguous:
        return None
    if A.dtype.kind == "c":
        return lu_by_columns.plan_inverse(inverse, info, A)
    return _plan_square("invert_flat", [inverse, info], A)


def plan_solve(
    result: TensorSpec,
    LU: TensorSpec,
    pivots: TensorSpec,
    info: TensorSpec,
    A: TensorSpec,
    B: TensorSpec,
    left: bool,
    check_errors: bool,
) -> LaunchPlan | None:
    """Plan `_linalg_solve_ex` of equally many matrices and right-hand sides."""
    sides = _sides(A, B, left)
    if check_errors or sides is None:
        return None
    outs = [result, LU, pivots, info]
    if _is_by_columns(LU):
        return lu_by_columns.plan_solve(outs, A, B, sides, left)
    if not left or not result.is_contiguous:
        return None
    return _plan_square("solve_flat", outs, A, [B], [sides.columns, *sides.steps])


def plan_lu_solve(
    out: TensorSpec, LU: TensorSpec, pivots: TensorSpec, B: TensorSpec, left: bool, adjoint: bool
) -> LaunchPlan | None:
    """Plan `linalg_lu_solve`."""
    if B.dtype.kind == "c":
        plan = lu_by_columns.plan_factored(out, LU, pivots, B, left, adjoint)
    else:
        plan = _plan_factored(out, LU, pivots, B, left, adjoint)
    return plan and refusing(plan, lambda *_: errors.pivots_out_of_range("lu_solve"))


def _plan_factored(
    out: TensorSpec, LU: TensorSpec, pivots: TensorSpec, B: TensorSpec, left: bool, adjoint: bool
) -> LaunchPlan | None:
    """The same of small real systems. X A = B is A^T X^T = B^T."""
    batch = out.sizes[:-2]
    stack, sides, text = stack_of(LU, batch), stack_of(B, batch), lu.text_of(B.dtype)
    swaps = stack_of(pivots._replace(sizes=(*pivots.sizes, 1), strides=(*pivots.strides, 1)), batch)
    if stack is None or sides is None or swaps is None or text is None or swaps.row_step != 1:
        return None
    if B.dtype != LU.dtype or not out.is_contiguous or stack.rows > MOST_COPIED:
        return None
    sides = sides if left else sides.turned
    flag = PLAIN if left != adjoint else TRANSPOSED
    numbers = [stack.count, stack.rows, *stack.steps, sides.columns, flag, left]
    numbers += [*sides.steps, swaps.step]
    return _plan("solve_factored_flat", text, [out], [LU, pivots, B], numbers)


MOST_COPIED = 64
"""Rows of factors that are copied together, beside arrays that would have to be looked at."""


def plan_solve_triangular(
    x: TensorSpec, self: TensorSpec, B: TensorSpec, upper: bool, left: bool, unitriangular: bool
) -> LaunchPlan | None:
    """Plan `linalg_solve_triangular` with triangles that lie densely, row by row or column by
    column. X A = B is A^T X^T = B^T."""
    if x.dtype.kind == "c":
        return complex_triangles.plan_solve_triangular(x, self, B, upper, left, unitriangular)
    batch = x.sizes[:-2]
    triangles, sides, text = stack_of(self, batch), stack_of(B, batch), lu.text_of(x.dtype)
    if triangles is None or sides is None or text is None or self.dtype != B.dtype:
        return None
    n, steps = triangles.rows, triangles.steps[1:]
    is_by_columns = steps == (1, n) and n > 1
    if not (is_by_columns or steps == (n, 1) or n == 1):
        return None
    flag = PLAIN if is_by_columns != left else TRANSPOSED
    step, by_row, by_column = sides.steps
    columns = sides.columns if left else sides.rows
    steps = (step, by_row, by_column) if left else (step, by_column, by_row)
    is_upper = upper == left
    numbers = [sides.count, n, columns, is_upper, unitriangular, flag, triangles.step, left, *steps]
    return _plan("solve_triangle_flat", text, [x], [self, B], numbers)


def plan_cholesky_solve(
    x: TensorSpec, self: TensorSpec, input2: TensorSpec, numbers: Sequence[int]
) -> LaunchPlan | None:
    """Plan `cholesky_solve` of real systems."""
    text = lu.text_of(x.dtype)
    return text and _plan("solve_definite_flat", text, [x], [self, input2], numbers)


PLAIN, TRANSPOSED = 111, 112


def _is_by_columns(LU: TensorSpec) -> bool:
    """Whether factors lie column by column, though single columns do not show it."""
    is_square = LU.sizes[-1] == LU.sizes[-2]
    return LU.dtype.kind == "c" or not is_square or not LU.is_contiguous


def _sides(A: TensorSpec, B: TensorSpec, left: bool) -> Stack | None:
    """The right-hand sides, where there is one for each matrix; a vector is one column.

    Those of X A = B are turned: A^T X^T = B^T.
    """
    if B.dtype != A.dtype:
        return None
    if len(B.sizes) == len(A.sizes) - 1 and B.sizes == A.sizes[:-1]:
        B = TensorSpec(B.dtype, (*B.sizes, 1), (*B.strides, 1))
    if B.sizes[:-2] != A.sizes[:-2]:
        return None
    sides = stack_of(B)
    return sides if left or sides is None else sides.turned


def _plan_square(
    function: str,
    outs: Sequence[TensorSpec],
    A: TensorSpec,
    others: Sequence[TensorSpec] = (),
    numbers: Sequence[int] = (),
) -> LaunchPlan | None:
    stack, text = stack_of(A), lu.text_of(A.dtype)
    if stack is None or text is None or stack.rows != stack.columns:
        return None
    numbers = [stack.count, stack.rows, *stack.steps, *numbers]
    return _plan(function, text, outs, [A, *others], numbers)


def _plan(
    function: str,
    text: str,
    outs: Sequence[TensorSpec],
    operands: Sequence[TensorSpec],
    numbers: Sequence[Any],
) -> LaunchPlan:
    dtypes = [each.dtype for each in (*outs, *operands)]
    signature = (*dtypes, *[int] * len(operands), INT64)
    name = f"lu_flat_{outs[0].dtype.name}"
    places = {"rows_in": 1, "sides_in": SIDES[function]} if function in SIDES else {"rows_in": 1}
    whole = f"{text}\n\n{sizes_text(numbers, places)}{FLAT}"
    entry = build.entry_point(name, whole, signature, function)
    return LaunchPlan(entry, np.array(numbers, np.int64))
