"""Products of a vector and a matrix of few columns, whose number is a constant of the code.

OpenBLAS takes row after row: 83 us for 75,000 rows of four numbers. A loop of known length is
unrolled, and LLVM takes many rows at once: 16 us.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.matmul import shared
from torchgen_out._runtime.kernels.plan import LaunchPlan

Array = Any
FEWEST = 64  # rows that are worth a kernel for their length
LARGEST = {"float32": 8, "float64": 7}
"""Columns up to which LLVM takes rows in vectors."""

SIZES = "from numba import types\n\nT, N = types.{dtype}, {columns}\n"

VECTOR = '''\
@entry
def part(first, last, out, a, b, at_a, at_b, plan):
    """out = the matrix {matrix} times the vector {vector}."""
    start, count = piece(first, last, plan[0])
    begin, step = at_{matrix} + start * N, plan[4]
    rows, own = {matrix}[begin : begin + count * N], out[start : start + count]
    for i in range(own.size):
        total = T(0)
        for k in range(N):
            total += rows[i * N + k] * {vector}[at_{vector} + k * step]
        own[i] = total


@entry
def kernel(out, a, b, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, a, b, at_a, at_b, plan)
'''

ADDED_VECTOR = '''\
@entry
def part(first, last, out, self, a, b, at, at_a, at_b, plan):
    """out = beta * self + alpha * a @ b; with beta 0, self is not read."""
    start, count = piece(first, last, plan[0])
    begin, step, reals = at_a + start * N, plan[4], plan.view(np.float64)
    alpha, beta = T(reals[7]), T(reals[8])
    rows, own = a[begin : begin + count * N], out[start : start + count]
    if beta != 0:
        start_with(own, self, at + start * plan[6], plan[6])
    for i in range(own.size):
        total = T(0)
        for k in range(N):
            total += rows[i * N + k] * b[at_b + k * step]
        own[i] = alpha * total + beta * own[i] if beta != 0 else alpha * total


@entry
def kernel(out, self, a, b, at, at_a, at_b, plan):
    """All of it."""
    part(0, ALL, out, self, a, b, at, at_a, at_b, plan)
'''


def plan_vector(dtype: Any, numbers: Array, is_added: bool) -> LaunchPlan | None:
    """Plan such a product, or one that is added to something; None where BLAS is to do it.

    numbers: as `matrix_plans.vector_numbers` has them, perhaps with those of what is added.
    """
    m, n, flag, leading, _, is_right = map(int, numbers[:6])
    has_dense_rows = flag == shared.PLAIN and leading == n
    if not has_dense_rows or m < FEWEST or n > LARGEST.get(dtype.name, 0):
        return None
    sizes = SIZES.format(dtype=dtype.name, columns=n)
    units, work = -(-m // shared.UNIT), m * n
    if is_added:
        texts, operands = (sizes, shared.PIECE, shared.START, ADDED_VECTOR), 3
    else:
        matrix, vector = "ba" if is_right else "ab"
        own = VECTOR.format(matrix=matrix, vector=vector)
        texts, operands = (sizes, shared.PIECE, own), 2
    return shared.plan_parts(f"few_columns_{n}", texts, dtype, operands, numbers, units, work)
