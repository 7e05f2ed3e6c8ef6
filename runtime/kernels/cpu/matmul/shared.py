"""OpenBLAS's products of matrices, their parts shared among the library's own threads.

OpenBLAS's threads spin for 30 ms after each product and keep the workers of `runtime.kernels` off
their processors (and the other way round). So each part is a product on one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.matmul import blas
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any
UNIT = 16  # rows or columns are shared out in so many
MANY = 8  # matrices that are shared out as they are
ITEMS, ROWS, COLUMNS = range(3)
PLAIN, TRANSPOSED = 111, 112  # BLAS's words for a matrix as it is, or turned
PRODUCTS_PER_ELEMENT = 16  # products that take as long as an element of element-wise work
NUMBERS = np.dtype(np.int64)

PIECE = f"""\
UNIT, ITEMS, ROWS, ALL = {UNIT}, {ITEMS}, {ROWS}, 1 << 40


@inner
def piece(first, last, size):
    \"\"\"(start, length) of some units of a dim.\"\"\"
    start = first * UNIT
    return start, min(last * UNIT, size) - start
"""

MULTIPLY = '''\
@inner
def share_of(first, last, plan):
    """(row, rows, column, columns, item, items): what some units of the results are."""
    m, n, items = plan[0], plan[1], plan[7]
    if plan[10] == ITEMS:
        return 0, m, 0, n, first, min(last, items) - first
    if plan[10] == ROWS:
        row, rows = piece(first, last, m)
        return row, rows, 0, n, 0, items
    column, columns = piece(first, last, n)
    return 0, m, column, columns, 0, items


@inner
def multiply(i, share, out, apart, a, b, at_a, at_b, plan, alpha, beta):
    """out[i] = alpha * a[i] @ b[i] + beta * out[i] for a share; apart: from result to result."""
    row, rows, column, columns, _, _ = share
    n, k, size = plan[1], plan[2], out.itemsize
    flag_a, ld_a, flag_b, ld_b = plan[3], plan[4], plan[5], plan[6]
    at_a += row * (ld_a if flag_a == PLAIN else 1)
    at_b += column * (1 if flag_b == PLAIN else ld_b)
    threads = take_threads(rows * columns * k, MOST_ALONE)
    gemm(
        types.int32(ROW_MAJOR),
        types.int32(flag_a),
        types.int32(flag_b),
        rows,
        columns,
        k,
        alpha,
        a.ctypes.data + (at_a + i * plan[8]) * size,
        ld_a,
        b.ctypes.data + (at_b + i * plan[9]) * size,
        ld_b,
        beta,
        out.ctypes.data + (i * apart + row * n + column) * size,
        n,
    )
    give_threads(threads)
'''

PRODUCTS = '''\
@entry
def part(first, last, out, a, b, at_a, at_b, plan):
    """out[i] = a[i] @ b[i] for each matrix of a batch: the units from first to last."""
    share = share_of(first, last, plan)
    item, items, apart = share[4], share[5], plan[0] * plan[1]
    for i in range(item, item + items):
        multiply(i, share, out, apart, a, b, at_a, at_b, plan, T(1), T(0))


@entry
def kernel(out, a, b, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, a, b, at_a, at_b, plan)
'''

AFFINE = '''\
@entry
def part(first, last, out, a, b, bias, at_a, at_b, at_bias, plan):
    """out = a @ b + bias, the bias added to each row."""
    share = share_of(first, last, plan)
    row, rows, column, columns, _, _ = share
    n = plan[1]
    added = bias[at_bias + column : at_bias + column + columns]
    for i in range(row, row + rows):
        out[i * n + column : i * n + column + columns] = added
    multiply(0, share, out, 0, a, b, at_a, at_b, plan, T(1), T(1))


@entry
def kernel(out, a, b, bias, at_a, at_b, at_bias, plan):
    """All of it."""
    part(0, ALL, out, a, b, bias, at_a, at_b, at_bias, plan)
'''

START = '''\
@inner
def start_with(out, self, at, step):
    """Copy what is added to, elements `step` apart."""
    if step == 1:
        out[:] = self[at : at + out.size]
    else:
        for i in range(out.size):
            out[i] = self[at + i * step]
'''

ADDING = (
    START
    + '''

@inner
def begin(i, share, out, self, at, plan):
    """Copy what the product of two matrices is added to."""
    row, rows, column, columns, _, _ = share
    step = plan[13]
    for r in range(row, row + rows):
        start = i * plan[14] + r * plan[1] + column
        to = out[start : start + columns]
        start_with(to, self, at + i * plan[11] + r * plan[12] + column * step, step)


@entry
def part(first, last, out, self, a, b, at, at_a, at_b, plan):
    """out[i] = beta * self[i] + alpha * a[i] @ b[i] for each matrix of a batch.

    Where all are added to one matrix, results are 0 apart. With beta 0, self is not read.
    """
    share = share_of(first, last, plan)
    reals = plan.view(np.float64)
    alpha, beta = T(reals[15]), T(reals[16])
    item, items, apart = share[4], share[5], plan[14]
    for i in range(item, item + items):
        is_first = apart != 0 or i == 0
        if beta != 0 and is_first:
            begin(i, share, out, self, at, plan)
        factor = beta if is_first else T(1)
        multiply(i, share, out, apart, a, b, at_a, at_b, plan, alpha, factor)


@entry
def kernel(out, self, a, b, at, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, self, a, b, at, at_a, at_b, plan)
'''
)

VECTOR = '''\
@entry
def part(first, last, out, a, b, at_a, at_b, plan):
    """out = the matrix among a and b times the vector among them."""
    m, n, flag, ld, step = plan[0], plan[1], plan[2], plan[3], plan[4]
    matrix, vector, size = a.ctypes.data, b.ctypes.data, out.itemsize
    at_matrix, at_vector = at_a, at_b
    if plan[5]:
        matrix, vector, at_matrix, at_vector = vector, matrix, at_b, at_a
    if flag == PLAIN:
        start, m = piece(first, last, m)
        at_matrix += start * ld
    else:
        start, n = piece(first, last, n)
        at_matrix += start
    threads = take_threads(m * n, MOST_ALONE_VECTOR)
    gemv(
        types.int32(ROW_MAJOR),
        types.int32(flag),
        m,
        n,
        T(1),
        matrix + at_matrix * size,
        ld,
        vector + at_vector * size,
        step,
        T(0),
        out.ctypes.data + start * size,
        1,
    )
    give_threads(threads)


@entry
def kernel(out, a, b, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, a, b, at_a, at_b, plan)
'''

ADDED_VECTOR = '''\
@entry
def part(first, last, out, self, a, b, at, at_a, at_b, plan):
    """out = beta * self + alpha * a @ b for a vector b; with beta 0, self is not read."""
    m, n, flag, ld, step = plan[0], plan[1], plan[2], plan[3], plan[4]
    size, reals = out.itemsize, plan.view(np.float64)
    alpha, beta = T(reals[7]), T(reals[8])
    if flag == PLAIN:
        start, m = piece(first, last, m)
        at_a += start * ld
    else:
        start, n = piece(first, last, n)
        at_a += start
    count = m if flag == PLAIN else n
    if beta != 0:
        start_with(out[start : start + count], self, at + start * plan[6], plan[6])
    threads = take_threads(m * n, MOST_ALONE_VECTOR)
    gemv(
        types.int32(ROW_MAJOR),
        types.int32(flag),
        m,
        n,
        alpha,
        a.ctypes.data + at_a * size,
        ld,
        b.ctypes.data + at_b * size,
        step,
        beta,
        out.ctypes.data + start * size,
        1,
    )
    give_threads(threads)


@entry
def kernel(out, self, a, b, at, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, self, a, b, at, at_a, at_b, plan)
'''


def way_to_share(batch: int, m: int, n: int, has_one_result: bool) -> tuple[int, int]:
    """How the results of a batch of products (m, n) are shared out, and how many units they are."""
    if batch >= MANY and not has_one_result:
        return ITEMS, batch
    return (ROWS, -(-m // UNIT)) if m >= n else (COLUMNS, -(-n // UNIT))


def plan_products(
    name: str,
    text: str,
    dtype: Any,
    operands: int,
    numbers: Array,
    has_one_result: bool = False,
) -> LaunchPlan | None:
    """Plan products whose numbers begin as `matrix_plans.batch_numbers` has them.

    name, text: of the kernel that makes them. None without BLAS.
    """
    m, n, k, batch = map(int, (*numbers[:3], numbers[7]))
    how, units = way_to_share(batch, m, n, has_one_result)
    work = batch * m * n * k // PRODUCTS_PER_ELEMENT
    own = np.concatenate([numbers[:10], np.array([how], NUMBERS), numbers[10:]])
    texts = blas.alone_text(blas.product_text(dtype)), PIECE, MULTIPLY, text
    return plan_parts(name, texts, dtype, operands, own, units, work)


def plan_vector(dtype: Any, numbers: Array, count: int, work: int) -> LaunchPlan | None:
    """Plan the product of a matrix and a vector, which has `count` results."""
    texts = blas.alone_text(blas.gemv_text(dtype)), PIECE, VECTOR
    return plan_parts("vector", texts, dtype, 2, numbers, -(-count // UNIT), work)


def plan_added_vector(dtype: Any, numbers: Array, count: int, work: int) -> LaunchPlan | None:
    """Plan such a product that is added to something: its numbers, the step of that, factors."""
    texts = blas.alone_text(blas.gemv_text(dtype)), PIECE, START, ADDED_VECTOR
    return plan_parts("added_vector", texts, dtype, 3, numbers, -(-count // UNIT), work)


def plan_parts(
    name: str,
    texts: Sequence[str | None],
    dtype: Any,
    operands: int,
    numbers: Array,
    units: int,
    work: int,
) -> LaunchPlan | None:
    """Plan a kernel of some texts; the first is a declaration of BLAS's, None without BLAS.

    Small products are one call of the kernel `kernel`, the others calls of its `part`.
    """
    declaration, *own = texts
    if declaration is None:
        return None
    title = f"{name}: {dtype.name}."
    text = "\n\n".join([build.HEADER.format(title=title), declaration, *own])
    arguments = (*[dtype] * (1 + operands), *[int] * operands, NUMBERS)
    if work < 2 * threads.GRAIN:
        return LaunchPlan(build.entry_point(f"{name}_{dtype.name}", text, arguments), numbers)
    part = build.entry_point(f"{name}_{dtype.name}", text, (int, int, *arguments), "part")
    return LaunchPlan(partial(threads.run_ranges, part, units, work), numbers)
