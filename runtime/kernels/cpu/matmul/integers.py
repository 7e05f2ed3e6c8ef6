"""Products of matrices of whole numbers, which BLAS has not and NumPy computes one by one.

Columns of the second factor are copied side by side, a panel at a time. Four rows of the first meet
it together, two numbers of each at once: two lines of the panel, times these, are added to four
lines of sums, which stay in the first cache. One line at once stored the sums twice as often: 9.5
us instead of 6.5 for 64-bit matrices of 64 x 64. A single column meets row after row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, expanded_strides
from torchgen_out._runtime.kernels.typed import TypedKernel, typed

Array = Any
WORK = 8
"""Products that take as long as an element of element-wise work."""
ROWS, WIDTH = 4, 32


@typed
def whole_product(start, stop, out, a, b, alpha, beta):
    """out = alpha * a @ b + beta * out in blocks of ROWS rows, those of all matrices counted
    through."""
    rows, inner, columns = a.shape[1], a.shape[2], b.shape[2]
    blocks = (rows + ROWS - 1) // ROWS
    panel = np.empty((inner + 1) * WIDTH, out.dtype)
    sums = np.empty(ROWS * WIDTH, out.dtype)
    for matrix in range(start // blocks, (stop + blocks - 1) // blocks):
        first, last = max(start - matrix * blocks, 0), min(stop - matrix * blocks, blocks)
        for left in range(0, columns, WIDTH):
            width = min(WIDTH, columns - left)
            if columns == 1:
                for k in range(inner):
                    panel[k] = b[matrix, k, 0]
                multiply_column(first, last, out[matrix], a[matrix], panel, alpha, beta)
                continue
            for k in range(inner):
                for j in range(width):
                    panel[k * WIDTH + j] = b[matrix, k, left + j]
            panel[inner * WIDTH :] = 0
            for block in range(first, last):
                add_up(block * ROWS, a[matrix], panel, sums)
                for r in range(min(ROWS, rows - block * ROWS)):
                    for j in range(width):
                        total = T(alpha) * sums[r * WIDTH + j]
                        if beta != 0:
                            total += T(beta) * out[matrix, block * ROWS + r, left + j]
                        out[matrix, block * ROWS + r, left + j] = total


@typed
def add_up(row0, a, panel, sums):
    """sums = the products of ROWS rows from row0 on and a panel, after whose last line is one of
    zeros. Of the last rows some may be computed twice, and columns that nobody asks for."""
    sums0, sums1 = sums[:WIDTH], sums[WIDTH : 2 * WIDTH]
    sums2, sums3 = sums[2 * WIDTH : 3 * WIDTH], sums[3 * WIDTH :]
    rows, inner = a.shape
    row1, row2, row3 = min(row0 + 1, rows - 1), min(row0 + 2, rows - 1), min(row0 + 3, rows - 1)
    sums[:] = 0
    for k in range(0, inner, 2):
        line, next_line = panel[k * WIDTH : (k + 1) * WIDTH], panel[(k + 1) * WIDTH :]
        after = min(k + 1, inner - 1)
        a0, a1, a2, a3 = a[row0, k], a[row1, k], a[row2, k], a[row3, k]
        b0, b1, b2, b3 = a[row0, after], a[row1, after], a[row2, after], a[row3, after]
        for j in range(WIDTH):
            sums0[j] += a0 * line[j] + b0 * next_line[j]
            sums1[j] += a1 * line[j] + b1 * next_line[j]
            sums2[j] += a2 * line[j] + b2 * next_line[j]
            sums3[j] += a3 * line[j] + b3 * next_line[j]


@typed
def multiply_column(first, last, out, a, column, alpha, beta):
    """The same of blocks of a result that is one column."""
    for i in range(first * ROWS, min(last * ROWS, a.shape[0])):
        row, total = a[i], T(0)
        for k in range(row.size):
            total = T(total + row[k] * column[k])
        total = T(alpha * total)
        if beta != 0:
            total = T(total + beta * out[i, 0])
        out[i, 0] = total


def suits(out: Array) -> bool:
    """Whether the product is one of whole numbers."""
    return out.dtype.kind in "iu" and out.size > 0


def multiply(out: Array, a: Array, b: Array, alpha: int, beta: int) -> None:
    """out = alpha * a @ b + beta * out of matrices, or batches of them; sums wrap round."""
    if out.ndim == 2:
        out, a, b = out[None], a[None], b[None]
    blocks, work = _effort(*out.shape, a.shape[2])
    threads.run_ranges(_kernel(out.dtype), blocks, work, out, a, b, alpha, beta)


@cache
def _kernel(dtype: Any) -> Any:
    """The kernel for arrays of any strides."""
    arrays = [f"{dtype.name}[3{layout}]" for layout in "CAA"]
    return whole_product.entry_point(dtype, ("int64", "int64", *arrays, "int64", "int64"))


def plan_product(result: TensorSpec, a: TensorSpec, b: TensorSpec) -> LaunchPlan | None:
    """Plan the product of dense matrices, of a batch, or of a matrix and a vector."""
    return _plan(whole_product, result, (), a, b, 1, 0)


def plan_added(
    result: TensorSpec, self: TensorSpec, a: TensorSpec, b: TensorSpec, beta: Any, alpha: Any
) -> LaunchPlan | None:
    """Plan beta * self + alpha * (a @ b), which have one result for each of a batch."""
    if not self.is_contiguous or self.dtype != result.dtype:
        return None
    column = (1,) if len(b.sizes) == 1 else ()
    geometry = (*self.sizes, *column), (*self.strides, *column)
    sizes = (*[1] * (3 - len(a.sizes)), *result.sizes, *column)
    steps = expanded_strides(geometry, sizes)
    return _plan(added_product, result, (self,), a, b, int(alpha), int(beta), *steps)


def _plan(
    loop: TypedKernel,
    result: TensorSpec,
    before: Sequence[TensorSpec],
    a: TensorSpec,
    b: TensorSpec,
    *numbers: int,
) -> LaunchPlan | None:
    """before: what the loop reads flat, in front of the factors."""
    are_whole = result.dtype.kind in "iu" and all(each.dtype == result.dtype for each in (a, b))
    are_dense = all(each.is_contiguous and prod(each.sizes) for each in (*before, a, b))
    if not (are_whole and are_dense):
        return None
    batch = a.sizes[0] if len(a.sizes) == 3 else 1
    (m, k), n = a.sizes[-2:], b.sizes[-1] if len(b.sizes) > 1 else 1
    views = [out(0, batch, m, n), *[operand(0, prod(each.sizes)) for each in before]]
    views += [operand(len(before), batch, m, k), operand(len(before) + 1, batch, k, n)]
    effort = _effort(batch, m, n, k)
    return plan_ranges(loop, *effort, [result], [*before, a, b], *views, *numbers)


@typed
def added_product(start, stop, out, self, a, b, alpha, beta, step_o, step_i, step_j):
    """The same, added to what lies in such steps, of which one that is repeated has 0."""
    rows, columns = out.shape[1], out.shape[2]
    blocks = (rows + ROWS - 1) // ROWS
    for block in range(start, stop if beta != 0 else start):
        matrix = block // blocks
        first = (block - matrix * blocks) * ROWS
        for i in range(first, min(first + ROWS, rows)):
            for j in range(columns):
                out[matrix, i, j] = self[matrix * step_o + i * step_i + j * step_j]
    whole_product(start, stop, out, a, b, alpha, beta)


def _effort(batch: int, m: int, n: int, k: int) -> tuple[int, int]:
    """How many blocks there are, and what they take in elements of element-wise work."""
    return batch * -(-m // ROWS), batch * m * n * k // WORK
