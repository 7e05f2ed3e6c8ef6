"""Plans of Cholesky and QR factorisations of small matrices, and of what is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg import lu_plans
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import plan_routines, stack_of
from torchgen_out._runtime.kernels.cpu.loop_plans import refusing
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

FACTORISE = '''\
FEW = 8  # rows that are factorised before LAPACK has read its arguments


@inner
def factorise(own, n, upper):
    """The lower factor, or the upper one, which is its mirror image; the first minor that fails."""
    if n > FEW:
        return potrf(COLUMNS, LOWER if upper else UPPER, n, own.ctypes.data, n)
    down, along = (1, n) if upper else (n, 1)
    for j in range(n):
        pivot = own[j * n + j].real
        for k in range(j):
            factor = own[j * down + k * along]
            pivot -= (factor * conjugate(factor)).real
        if not pivot > 0:
            return j + 1
        pivot = math.sqrt(pivot)
        own[j * n + j] = T(pivot)
        scale = R(1) / pivot
        for i in range(j + 1, n):
            value = own[i * down + j * along]
            for k in range(j):
                value -= own[i * down + k * along] * conjugate(own[j * down + k * along])
            own[i * down + j * along] = value * scale
    return 0


'''

CHOLESKY = '''\
@entry
def kernel(factor, info, a, at, plan):
    """Row by row, so that the other triangle is the one meant; what lies behind it becomes zero."""
    count, n, upper = plan[0], rows_in(plan), upper_in(plan) != 0
    for m in range(count):
        own = factor[m * n * n : (m + 1) * n * n]
        copy_matrix(own, 0, a, at + m * plan[3], n, n, plan[5], plan[4])
        info[m] = factorise(own, n, upper)
        for i in range(n):
            if info[m] == 0 and own[i * n + i] != own[i * n + i]:  # OpenBLAS goes on behind a NaN
                info[m] = i + 1
        for i in range(n):
            first, last = (0, i) if upper else (i + 1, n)
            for j in range(first, last):
                own[i * n + j] = T(0)
'''

CHOLESKY_SOLVE = '''\
@entry
def kernel(x, b, factor, at_b, at, plan):
    """x = A^-1 b for the factor of A, as above."""
    count, n, columns, upper = plan[0], plan[1], plan[2], plan[3] != 0
    triangle = np.empty(n * n, T)
    for m in range(count):
        own = x[m * n * columns : (m + 1) * n * columns]
        copy_matrix(own, 0, b, at_b + m * plan[4], n, columns, plan[5], plan[6])
        if m == 0 or plan[7] != 0:
            copy_matrix(triangle, 0, factor, at + m * plan[7], n, n, plan[8], plan[9])
        side, at_triangle, at_x = UPPER if upper else LOWER, triangle.ctypes.data, own.ctypes.data
        potrs(COLUMNS, side, n, columns, at_triangle, n, at_x, n)
'''

CHOLESKY_INVERSE = '''\
@entry
def kernel(inverse, factor, at, plan):
    """One triangle of the inverse, and its mirror image."""
    count, n, upper = plan[0], plan[1], plan[2] != 0
    for m in range(count):
        own = inverse[m * n * n : (m + 1) * n * n]
        copy_matrix(own, 0, factor, at + m * plan[3], n, n, plan[5], plan[4])
        if potri(COLUMNS, LOWER if upper else UPPER, n, own.ctypes.data, n) != 0:
            return False
        for i in range(n):
            for j in range(i):
                if upper:
                    own[i * n + j] = conjugate(own[j * n + i])
                else:
                    own[j * n + i] = conjugate(own[i * n + j])
    return True
'''

HOUSEHOLDER = '''\
FEW, FEW_ROWS = 8, 32  # reflections that are loops, and how long these may be
SAFE = float(np.finfo(T).tiny / np.finfo(T).eps)  # smaller columns are scaled up first


@inner
def square(x):
    a, b = np.float64(x.real), np.float64(x.imag)
    return a * a + b * b


@inner
def length_of(x, start):
    """Of the elements from `start` on; those whose squares are no numbers are scaled."""
    total, largest = 0.0, 0.0
    for i in range(start, x.size):
        total += square(x[i])
    if (total > 1e-280 and total < 1e280) or total != total:
        return math.sqrt(total)
    for i in range(start, x.size):
        largest = max(largest, max(abs(np.float64(x[i].real)), abs(np.float64(x[i].imag))))
    if largest == 0:
        return 0.0
    total = 0.0
    for i in range(start, x.size):
        a, b = np.float64(x[i].real) / largest, np.float64(x[i].imag) / largest
        total += a * a + b * b
    return largest * math.sqrt(total)


@inner
def reflect(v, scale, other, start):
    """other -= scale * v (v^H other), with 1 at v's place `start` and zeros before it."""
    total = other[start]
    for i in range(start + 1, other.size):
        total += conjugate(v[i]) * other[i]
    total *= scale
    other[start] -= total
    for i in range(start + 1, other.size):
        other[i] -= total * v[i]


@inner
def factorise(a, rows, columns, tau, room):
    """R and the reflectors below it, and their scales, as LAPACK has them."""
    smaller = min(rows, columns)
    if smaller > FEW or rows > FEW_ROWS:
        at, work = tau.ctypes.data, room.ctypes.data
        geqrf(COLUMNS, rows, columns, a.ctypes.data, rows, at, work, room.size)
        return
    for j in range(smaller):
        v = a[j * rows : (j + 1) * rows]
        alpha = v[j]
        if length_of(v, j + 1) == 0 and alpha.imag == 0:
            tau[j] = T(0)
            continue
        size, down = R(length_of(v, j)), R(1)
        if size < SAFE:
            for i in range(j, rows):
                v[i] *= R(1 / SAFE)
            alpha, size, down = v[j], R(length_of(v, j)), R(SAFE)
        beta = -size if alpha.real >= 0 else size
        tau[j] = (beta - alpha) / beta
        scale = T(1) / (alpha - beta)
        for i in range(j + 1, rows):
            v[i] *= scale
        v[j] = beta * down
        for k in range(j + 1, columns):
            reflect(v, conjugate(tau[j]), a[k * rows : (k + 1) * rows], j)


@inner
def multiply(a, rows, columns, count, tau, room):
    """The first columns of the product of some reflections, in place of these."""
    if count > FEW or rows > FEW_ROWS:
        at, work = tau.ctypes.data, room.ctypes.data
        orgqr(COLUMNS, rows, columns, count, a.ctypes.data, rows, at, work, room.size)
        return
    for k in range(count, columns):
        for i in range(rows):
            a[k * rows + i] = T(1) if i == k else T(0)
    for step in range(count):
        j = count - 1 - step
        v, scale = a[j * rows : (j + 1) * rows], tau[j]
        for k in range(j + 1, columns):
            reflect(v, scale, a[k * rows : (k + 1) * rows], j)
        for i in range(j):
            v[i] = T(0)
        v[j] = T(1) - scale
        for i in range(j + 1, rows):
            v[i] *= -scale


'''

QR = '''\
@entry
def kernel(q, r, a, at, plan):
    """Reflectors in q's first columns where these are enough; of them r, and all columns of q."""
    count, rows, columns, inner = plan[0], rows_in(plan), columns_in(plan), inner_in(plan)
    smaller = min(rows, columns)
    tau, work = np.empty(smaller, T), np.empty(64 * max(rows, columns), T)
    apart = np.empty(rows * columns if inner < columns else 0, T)
    for m in range(count):
        own = q[m * rows * inner : (m + 1) * rows * inner]
        reflectors = own if inner >= columns else apart
        copy_matrix(reflectors, 0, a, at + m * plan[4], rows, columns, plan[5], plan[6])
        factorise(reflectors, rows, columns, tau, work)
        start = m * inner * columns
        for j in range(columns):
            for i in range(inner):
                value = reflectors[j * rows + i] if i <= j else T(0)
                r[start + j * inner + i] = value
        if inner < columns:
            for i in range(rows * inner):
                own[i] = apart[i]
        multiply(own, rows, inner, smaller, tau, work)
'''

UPPER_ONLY = '''\
@entry
def kernel(q, r, a, at, plan):
    """R alone, whose reflectors are thrown away."""
    count, rows, columns = plan[0], rows_in(plan), columns_in(plan)
    smaller = min(rows, columns)
    own, tau, work = np.empty(rows * columns, T), np.empty(smaller, T), np.empty(64 * columns, T)
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[3], rows, columns, plan[4], plan[5])
        factorise(own, rows, columns, tau, work)
        start = m * smaller * columns
        for j in range(columns):
            for i in range(smaller):
                value = own[j * rows + i] if i <= j else T(0)
                r[start + j * smaller + i] = value
'''

REFLECT = '''\
@entry
def kernel(reflectors, tau, a, at, plan):
    """R and the reflectors below it in one matrix, and their scales."""
    count, rows, columns = plan[0], rows_in(plan), columns_in(plan)
    smaller, work = min(rows, columns), np.empty(64 * max(rows, columns), T)
    for m in range(count):
        own = reflectors[m * rows * columns : (m + 1) * rows * columns]
        copy_matrix(own, 0, a, at + m * plan[3], rows, columns, plan[4], plan[5])
        factorise(own, rows, columns, tau[m * smaller : (m + 1) * smaller], work)
'''

PRODUCT = '''\
@entry
def kernel(out, a, tau, at, at_tau, plan):
    """The first columns of the product of reflections."""
    count, rows, columns, scales = plan[0], rows_in(plan), columns_in(plan), plan[3]
    work = np.empty(64 * columns, T)
    for m in range(count):
        own = out[m * rows * columns : (m + 1) * rows * columns]
        copy_matrix(own, 0, a, at + m * plan[4], rows, columns, plan[5], plan[6])
        first = at_tau + m * scales
        multiply(own, rows, columns, scales, tau[first : first + scales], work)
'''


REFLECTED = '''\
@entry
def kernel(out, a, tau, c, at, at_tau, at_c, plan):
    """The product of c and the reflections in the columns of a."""
    count, rows, columns, length, scales = plan[0], plan[1], plan[2], plan[3], plan[4]
    reflectors, work = np.empty(length * scales, T), np.empty(64 * max(rows, columns), T)
    side, turned = np.int32(plan[5]), np.int32(plan[6])
    for m in range(count):
        own = out[m * rows * columns : (m + 1) * rows * columns]
        copy_matrix(own, 0, c, at_c + m * plan[10], rows, columns, plan[11], plan[12])
        copy_matrix(reflectors, 0, a, at + m * plan[7], length, scales, plan[8], plan[9])
        first = tau.ctypes.data + (at_tau + m * scales) * tau.itemsize
        address, room = own.ctypes.data, work.ctypes.data
        ormqr(
            COLUMNS,
            side,
            turned,
            rows,
            columns,
            scales,
            reflectors.ctypes.data,
            length,
            first,
            address,
            rows,
            room,
            work.size,
        )
'''

SYMMETRIC = '''\
@entry
def kernel(factor, pivots, info, a, at, plan):
    """L and D in the lower triangle; what lies above it becomes zero."""
    count, n = plan[0], plan[1]
    own, swaps, work = np.empty(n * n, T), np.empty(n, np.int64), np.empty(64 * n, T)
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[2], n, n, plan[3], plan[4])
        address, room = swaps.ctypes.data, work.ctypes.data
        info[m] = sytrf(COLUMNS, LOWER, n, own.ctypes.data, n, address, room, work.size)
        for i in range(n):
            pivots[m * n + i] = swaps[i]
            for j in range(n):
                value = own[j * n + i] if j <= i else T(0)
                factor[m * n * n + i * plan[5] + j * plan[6]] = value
'''

SYMMETRIC_SOLVE = '''\
@inner
def are_swaps(pivots):
    """Whether every block of D has a swap, and that names a row."""
    k, n = 0, pivots.size
    while k < n:
        last = k if pivots[k] > 0 else k + 1
        if last >= n or not 0 < abs(pivots[last]) <= n or (last > k and pivots[last] >= 0):
            return False
        k = last + 1
    return True


@entry
def kernel(x, factor, pivots, b, at, at_pivots, at_b, plan):
    """x = A^-1 b for the factors of A; False for pivots that are none."""
    count, n, columns = plan[0], plan[1], plan[2]
    own, triangle, swaps = np.empty(n * columns, T), np.empty(n * n, T), np.empty(n, np.int64)
    for m in range(count):
        first = at_pivots + m * plan[9]
        swaps[:] = pivots[first : first + n]
        if not are_swaps(swaps):
            return False
        copy_matrix(triangle, 0, factor, at + m * plan[3], n, n, plan[4], plan[5])
        copy_matrix(own, 0, b, at_b + m * plan[6], n, columns, plan[7], plan[8])
        matrix, address = triangle.ctypes.data, swaps.ctypes.data
        sytrs(COLUMNS, LOWER, n, columns, matrix, n, address, own.ctypes.data, n)
        for i in range(n):
            for j in range(columns):
                x[(m * n + i) * columns + j] = own[j * n + i]
    return True
'''


def plan_cholesky(
    factor: TensorSpec, info: TensorSpec, self: TensorSpec, upper: bool, check_errors: bool
) -> LaunchPlan | None:
    """Plan `linalg_cholesky_ex` without errors."""
    stack = stack_of(self)
    if stack is None or check_errors:
        return None
    numbers = stack.count, stack.rows, upper, *stack.steps
    text = FACTORISE + CHOLESKY
    sizes = {"rows_in": 1, "upper_in": 2}
    return plan_routines(("potrf",), text, [factor, info], [self], numbers, sizes=sizes)


def plan_cholesky_solve(
    x: TensorSpec, self: TensorSpec, input2: TensorSpec, upper: bool
) -> LaunchPlan | None:
    """Plan `cholesky_solve`: by the blocked solver where there is one, else by LAPACK."""
    batch = x.sizes[:-2]
    sides, factors = stack_of(self, batch), stack_of(input2, batch)
    if sides is None or factors is None or self.dtype != input2.dtype:
        return None
    numbers = sides.count, sides.rows, sides.columns, upper, *sides.steps, *factors.steps
    blocked = lu_plans.plan_cholesky_solve(x, self, input2, numbers)
    if blocked is not None:
        return blocked
    return plan_routines(("potrs",), CHOLESKY_SOLVE, [x], [self, input2], numbers)


def plan_cholesky_inverse(inverse: TensorSpec, self: TensorSpec, upper: bool) -> LaunchPlan | None:
    """Plan `cholesky_inverse`."""
    stack = stack_of(self)
    if stack is None:
        return None
    numbers = stack.count, stack.rows, upper, *stack.steps
    plan = plan_routines(("potri",), CHOLESKY_INVERSE, [inverse], [self], numbers)
    shape = (*self.sizes[:-2], stack.rows, stack.rows)
    return plan and refusing(plan, lambda inverse, *_: singular_factor(inverse, shape))


def singular_factor(factors: Any, shape: Sequence[int]) -> Exception:
    """The error for the first factor with a zero on its diagonal, as LAPACK left it."""
    diagonals = factors.reshape(-1, *shape[-2:]).diagonal(0, 1, 2)
    number, place = np.argwhere(diagonals == 0)[0].tolist()
    return errors.singular_matrix("cholesky_inverse", number if len(shape) > 2 else None, place + 1)


REFLECTIONS = ("geqrf", "orgqr")
SIZES = {"rows_in": 1, "columns_in": 2}


def plan_qr(q: TensorSpec, r: TensorSpec, A: TensorSpec, mode: str) -> LaunchPlan | None:
    """Plan `linalg_qr` with both results, R alone, or reflectors and their scales for them."""
    stack = stack_of(A)
    if stack is None:
        return None
    if mode in ("r", "raw"):
        numbers = stack.count, stack.rows, stack.columns, *stack.steps
        text = HOUSEHOLDER + (UPPER_ONLY if mode == "r" else REFLECT)
        return plan_routines(REFLECTIONS, text, [q, r], [A], numbers, sizes=SIZES)
    numbers = stack.count, stack.rows, stack.columns, q.sizes[-1], *stack.steps
    places, text = {**SIZES, "inner_in": 3}, HOUSEHOLDER + QR
    return plan_routines(REFLECTIONS, text, [q, r], [A], numbers, sizes=places)


def plan_householder_product(
    out: TensorSpec, input: TensorSpec, tau: TensorSpec
) -> LaunchPlan | None:
    """Plan `linalg_householder_product`."""
    stack = stack_of(input)
    if stack is None or not tau.is_contiguous or not prod(tau.sizes):
        return None
    numbers = stack.count, stack.rows, stack.columns, tau.sizes[-1], *stack.steps
    text = HOUSEHOLDER + PRODUCT
    return plan_routines(REFLECTIONS, text, [out], [input, tau], numbers, sizes=SIZES)


def plan_ormqr(
    out: TensorSpec,
    self: TensorSpec,
    input2: TensorSpec,
    input3: TensorSpec,
    left: bool,
    transpose: bool,
) -> LaunchPlan | None:
    """Plan `ormqr`, whose result lies column by column."""
    stack, others = stack_of(self), stack_of(input3)
    if stack is None or others is None or self.dtype.kind != "f":
        return None
    if not input2.is_contiguous or not input2.numel:
        return None
    flags = ord("L" if left else "R"), ord("T" if transpose else "N")
    sizes = others.rows, others.columns, stack.rows, input2.sizes[-1]
    numbers = others.count, *sizes, *flags, *stack.steps, *others.steps
    return plan_routines(("ormqr",), REFLECTED, [out], [self, input2, input3], numbers)


def _of_kind(name: str, text: str, dtype: Any, hermitian: bool) -> tuple[str, str]:
    """A routine for symmetric matrices and a text that calls it; or that for Hermitian ones."""
    own = name.replace("sy", "he") if hermitian and dtype.kind == "c" else name
    return own, text.replace(f"{name}(", f"{own}(")


def plan_ldl_factor(
    LD: TensorSpec, pivots: TensorSpec, info: TensorSpec, A: TensorSpec, hermitian: bool
) -> LaunchPlan | None:
    """Plan `_ldl_factor`."""
    stack = stack_of(A)
    if stack is None:
        return None
    numbers = stack.count, stack.rows, *stack.steps, *LD.strides[-2:]
    name, text = _of_kind("sytrf", SYMMETRIC, A.dtype, hermitian)
    return plan_routines((name,), text, [LD, pivots, info], [A], numbers)


def plan_ldl_solve(
    out: TensorSpec, LD: TensorSpec, pivots: TensorSpec, B: TensorSpec, hermitian: bool
) -> LaunchPlan | None:
    """Plan `_ldl_solve`."""
    batch = out.sizes[:-2]
    stack, sides = stack_of(LD, batch), stack_of(B, batch)
    swaps = stack_of(pivots._replace(sizes=(*pivots.sizes, 1), strides=(*pivots.strides, 1)), batch)
    if stack is None or sides is None or swaps is None:
        return None
    if LD.dtype != B.dtype or swaps.row_step != 1 or not out.is_contiguous:
        return None
    numbers = stack.count, stack.rows, sides.columns, *stack.steps, *sides.steps, swaps.step
    name, text = _of_kind("sytrs", SYMMETRIC_SOLVE, LD.dtype, hermitian)
    plan = plan_routines((name,), text, [out], [LD, pivots, B], numbers, False)
    return plan and refusing(plan, lambda *_: errors.ldl_pivots())
