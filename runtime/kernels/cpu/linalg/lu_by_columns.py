"""Plans of LU factorisations that lie column by column, and of what is solved with them.

So lie those of complex matrices and of rectangular ones (`runtime.ops.shapes.linalg.factors`);
`lu_plans` asks here where there is no plan of row-major matrices. Up to FEW pivots are found by
loops, before LAPACK has read its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import (
    Stack,
    lies_by_columns,
    plan_routines,
    stack_of,
)
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

REAL = """\
@inner
def magnitude(x):
    return abs(x)


@inner
def reciprocal(x):
    return T(1) / x


"""

COMPLEX = '''\
@inner
def magnitude(x):
    """By which BLAS looks for the largest of complex numbers."""
    return abs(x.real) + abs(x.imag)


@inner
def reciprocal(x):
    """By the smaller part over the larger; infinite for zero, of which Numba would complain."""
    a, b = x.real, x.imag
    if abs(a) >= abs(b):
        if a == 0:
            return T(np.inf)
        ratio = b / a
        scale = type(a)(1) / (a + b * ratio)
        return complex(scale, -ratio * scale)
    ratio = a / b
    scale = type(a)(1) / (a * ratio + b)
    return complex(ratio * scale, -scale)


'''

FACTOR = '''\
FEW = 8


@inner
def factor(a, rows, columns, swaps):
    """P, L and U in place; the number of the first zero pivot."""
    smaller, zero = min(rows, columns), 0
    if smaller > FEW:
        return getrf(COLUMNS, rows, columns, a.ctypes.data, rows, swaps.ctypes.data)
    for j in range(smaller):
        column = a[j * rows : (j + 1) * rows]
        best, size = j, magnitude(column[j])
        for i in range(j + 1, rows):
            if magnitude(column[i]) > size:
                best, size = i, magnitude(column[i])
        swaps[j] = best + 1
        if best != j:
            for k in range(columns):
                kept = a[k * rows + j]
                a[k * rows + j] = a[k * rows + best]
                a[k * rows + best] = kept
        pivot = column[j]
        if pivot == 0:
            zero = j + 1 if zero == 0 else zero
            continue
        scale = reciprocal(pivot)
        if scale * T(0) == 0:
            for i in range(j + 1, rows):
                column[i] *= scale
        else:  # a subnormal pivot has no reciprocal
            for i in range(j + 1, rows):
                column[i] /= pivot
        for k in range(j + 1, columns):
            other = a[k * rows : (k + 1) * rows]
            over = other[j]
            for i in range(j + 1, rows):
                other[i] -= column[i] * over
    return zero


'''

SOLVE = '''\
@inner
def solve_few(factors, scales, swaps, x):
    """x = A^-1 x for one column; scales: one over the diagonal."""
    n = x.size
    for i in range(n):
        j = swaps[i] - 1
        kept = x[i]
        x[i] = x[j]
        x[j] = kept
    for j in range(n):
        column, value = factors[j * n : (j + 1) * n], x[j]
        for i in range(j + 1, n):
            x[i] -= column[i] * value
    for step in range(n):
        j = n - 1 - step
        column = factors[j * n : (j + 1) * n]
        value = x[j] * scales[j]
        x[j] = value
        for i in range(j):
            x[i] -= column[i] * value


@inner
def solve_few_turned(factors, scales, swaps, x):
    """x = A^-T x for one column."""
    n = x.size
    for j in range(n):
        column, value = factors[j * n : (j + 1) * n], x[j]
        for i in range(j):
            value -= column[i] * x[i]
        x[j] = value * scales[j]
    for step in range(n):
        j = n - 1 - step
        column, value = factors[j * n : (j + 1) * n], x[j]
        for i in range(j + 1, n):
            value -= column[i] * x[i]
        x[j] = value
    for step in range(n):
        i = n - 1 - step
        j = swaps[i] - 1
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


@inner
def solve(factors, n, swaps, scales, x, columns, is_turned):
    """x = A^-1 x, or A^-T x, in place."""
    if n > FEW:
        at, trans = factors.ctypes.data, np.int32(ord("T") if is_turned else ord("N"))
        getrs(COLUMNS, trans, n, columns, at, n, swaps.ctypes.data, x.ctypes.data, n)
        return
    for j in range(n):
        scales[j] = reciprocal(factors[j * n + j])
    for k in range(columns):
        if is_turned:
            solve_few_turned(factors, scales, swaps, x[k * n : (k + 1) * n])
        else:
            solve_few(factors, scales, swaps, x[k * n : (k + 1) * n])


'''

FACTORS = """\
@entry
def kernel(factors, pivots, info, a, at, plan):
    count, rows, columns = plan[0], rows_in(plan), columns_in(plan)
    smaller, numel = min(rows, columns), rows * columns
    swaps = np.empty(smaller, np.int64)
    for m in range(count):
        own = factors[m * numel : (m + 1) * numel]
        copy_matrix(own, 0, a, at + m * plan[3], rows, columns, plan[4], plan[5])
        info[m] = factor(own, rows, columns, swaps)
        for i in range(smaller):
            pivots[m * smaller + i] = swaps[i]
"""

DETERMINANT = '''\
@entry
def kernel(out, factors, pivots, a, at, plan):
    """The products of the diagonals, with the signs of the exchanges."""
    count, n = plan[0], rows_in(plan)
    swaps = np.empty(n, np.int64)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n]
        copy_matrix(own, 0, a, at + m * plan[2], n, n, plan[3], plan[4])
        factor(own, n, n, swaps)
        product = T(1)
        for i in range(n):
            pivots[m * n + i] = swaps[i]
            product *= own[i * n + i] if swaps[i] == i + 1 else -own[i * n + i]
        out[m] = product
'''

MEASURE = '''\
@entry
def kernel(sign, logarithm, factors, pivots, a, at, plan):
    """The phase, and the sum of the logarithms of the diagonal's magnitudes."""
    count, n = plan[0], rows_in(plan)
    swaps = np.empty(n, np.int64)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n]
        copy_matrix(own, 0, a, at + m * plan[2], n, n, plan[3], plan[4])
        factor(own, n, n, swaps)
        direction, total = T(1), 0.0
        for i in range(n):
            pivots[m * n + i] = swaps[i]
            value = own[i * n + i] if swaps[i] == i + 1 else -own[i * n + i]
            size = abs(value)
            direction *= value / size if size != 0 else T(0)
            total += math.log(np.float64(size))
        sign[m] = direction
        logarithm[m] = total
'''

INVERSE = '''\
@entry
def kernel(inverse, info, a, at, plan):
    """The columns of A^-T are the rows of A^-1."""
    count, n = plan[0], rows_in(plan)
    own, scales = np.empty(n * n, T), np.empty(n, T)
    swaps, work = np.empty(n, np.int64), np.empty(64 * n if n > FEW else 0, T)
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[2], n, n, plan[3], plan[4])
        info[m] = factor(own, n, n, swaps)
        x = inverse[m * n * n : (m + 1) * n * n]
        if n > FEW:
            address, room = swaps.ctypes.data, work.ctypes.data
            getri(COLUMNS, n, own.ctypes.data, n, address, room, work.size)
            copy_matrix(x, 0, own, 0, n, n, n, 1)
            continue
        for i in range(n):
            for j in range(n):
                x[i * n + j] = T(1) if i == j else T(0)
        solve(own, n, swaps, scales, x, n, True)
'''

SYSTEM = '''\
@entry
def kernel(x, factors, pivots, info, a, b, at, at_b, plan):
    """A x = b, and by the transposes of all three x A = b, whose result is row-major."""
    count, n, columns = plan[0], rows_in(plan), sides_in(plan)
    swaps, scales = np.empty(n, np.int64), np.empty(n, T)
    for m in range(count):
        own = factors[m * n * n : (m + 1) * n * n]
        copy_matrix(own, 0, a, at + m * plan[2], n, n, plan[3], plan[4])
        info[m] = factor(own, n, n, swaps)
        for i in range(n):
            pivots[m * n + i] = swaps[i]
        right = x[m * n * columns : (m + 1) * n * columns]
        copy_matrix(right, 0, b, at_b + m * plan[6], n, columns, plan[7], plan[8])
        solve(own, n, swaps, scales, right, columns, plan[9] != 0)
'''

FACTORED = '''\
@inner
def conjugate_all(x):
    for i in range(x.size):
        x[i] = conjugate(x[i])


@entry
def kernel(x, factors, pivots, b, at, at_pivots, at_b, plan):
    """The same for given factors, or for A^H; False for pivots that name no row.

    x A^H = b is conj(A) x^T = b^T, which is A conj(x^T) = conj(b^T).
    """
    count, n, columns = plan[0], rows_in(plan), columns_in(plan)
    is_turned = plan[9] != 0
    conjugates_factors, conjugates_sides = plan[10] != 0, plan[11] != 0
    own, swaps, scales = np.empty(n * n, T), np.empty(n, np.int64), np.empty(n, T)
    for m in range(count):
        for i in range(n):
            swaps[i] = pivots[at_pivots + m * plan[12] + i]
            if swaps[i] < 1 or swaps[i] > n:
                return False
        if m == 0 or plan[3] != 0:
            copy_matrix(own, 0, factors, at + m * plan[3], n, n, plan[4], plan[5])
            if conjugates_factors:
                conjugate_all(own)
        right = x[m * n * columns : (m + 1) * n * columns]
        copy_matrix(right, 0, b, at_b + m * plan[6], n, columns, plan[7], plan[8])
        if conjugates_sides:
            conjugate_all(right)
        solve(own, n, swaps, scales, right, columns, is_turned)
        if conjugates_sides:
            conjugate_all(right)
    return True
'''


def _text(dtype: Any, *parts: str) -> str:
    return "".join((COMPLEX if dtype.kind == "c" else REAL, FACTOR, *parts))


def plan_factor(
    LU: TensorSpec, pivots: TensorSpec, info: TensorSpec, A: TensorSpec
) -> LaunchPlan | None:
    """Plan `linalg_lu_factor_ex` without errors."""
    stack = stack_of(A)
    if stack is None or not lies_by_columns(LU):
        return None
    text = _text(A.dtype, FACTORS)
    sizes = {"rows_in": 1, "columns_in": 2}
    return plan_routines(("getrf",), text, [LU, pivots, info], [A], stack, sizes=sizes)


def plan_square(
    text: str,
    outs: Sequence[TensorSpec],
    LU: TensorSpec,
    A: TensorSpec,
    others: Sequence[TensorSpec] = (),
    numbers: Sequence[int] = (),
) -> LaunchPlan | None:
    """Plan what is made of square matrices, besides their factors, by one of the texts above."""
    stack = stack_of(A)
    if stack is None or not lies_by_columns(LU):
        return None
    sizes = {"rows_in": 1, "sides_in": 5} if numbers else {"rows_in": 1}
    numbers = stack.count, stack.rows, *stack.steps, *numbers
    own = _text(A.dtype, SOLVE, text)
    return plan_routines(("getrf", "getrs"), own, outs, [A, *others], numbers, sizes=sizes)


def plan_inverse(inverse: TensorSpec, info: TensorSpec, A: TensorSpec) -> LaunchPlan | None:
    """Plan `linalg_inv_ex` without errors."""
    stack = stack_of(A)
    if stack is None:
        return None
    numbers = stack.count, stack.rows, *stack.steps
    text = _text(A.dtype, SOLVE, INVERSE)
    routines, sizes = ("getrf", "getrs", "getri"), {"rows_in": 1}
    return plan_routines(routines, text, [inverse, info], [A], numbers, sizes=sizes)


def plan_solve(
    outs: Sequence[TensorSpec], A: TensorSpec, B: TensorSpec, sides: Stack, left: bool
) -> LaunchPlan | None:
    """Plan `_linalg_solve_ex` of equally many matrices and right-hand sides.

    sides: of the transposed systems where A is on the right.
    """
    x = outs[0]
    if not (lies_by_columns(x) if left and len(x.sizes) == len(A.sizes) else x.is_contiguous):
        return None
    numbers = sides.columns, *sides.steps, not left
    return plan_square(SYSTEM, outs, outs[1], A, [B], numbers)


def plan_factored(
    out: TensorSpec,
    LU: TensorSpec,
    pivots: TensorSpec,
    B: TensorSpec,
    left: bool,
    adjoint: bool,
) -> LaunchPlan | None:
    """Plan `linalg_lu_solve`."""
    batch = out.sizes[:-2]
    stack, sides = stack_of(LU, batch), stack_of(B, batch)
    swaps = stack_of(pivots._replace(sizes=(*pivots.sizes, 1), strides=(*pivots.strides, 1)), batch)
    if stack is None or sides is None or swaps is None or swaps.row_step != 1:
        return None
    if B.dtype != LU.dtype or not (lies_by_columns(out) if left else out.is_contiguous):
        return None
    sides = sides if left else sides.turned
    is_turned, is_complex = left == adjoint, B.dtype.kind == "c"
    conjugated = adjoint and is_complex
    flags = is_turned, conjugated and left, conjugated and not left, swaps.step
    numbers = stack.count, stack.rows, sides.columns, *stack.steps, *sides.steps, *flags
    text = _text(B.dtype, SOLVE, FACTORED)
    sizes = {"rows_in": 1, "columns_in": 2}
    operands = [LU, pivots, B]
    return plan_routines(("getrf", "getrs"), text, [out], operands, numbers, False, sizes)
