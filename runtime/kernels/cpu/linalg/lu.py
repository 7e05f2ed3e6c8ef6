"""LU factorisations of row-major matrices, and what is solved with them, over NumPy's OpenBLAS.

OpenBLAS's own factorisation and triangular solver run at a third of its product's speed on matrices
of some hundred rows (benchmarks/cases/linalg.py). Here blocks of 16 rows are done by loops along
rows, which vectorise, and the rest by products.

All functions take batches of row-major matrices: (count, rows, columns), dense.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torchgen_out._runtime.kernels import build, openblas
from torchgen_out._runtime.kernels.cpu.matmul import blas

TEXT = '''\
PLAIN, TRANSPOSED = 111, 112
BLOCK = 16
FEW = 8  # rows that are not worth a panel
called = njit(no_cpython_wrapper=True, **options)


@inner
def subtract_product(c, a, b, flag, m, n, k, ld_a, ld):
    """c -= a @ b at these addresses; flag: whether a lies transposed."""
    one = types.int32
    gemm(one(ROW_MAJOR), one(flag), one(PLAIN), m, n, k, T(-1), a, ld_a, b, ld, T(1), c, ld)


@inner
def subtract(row, factor, other):
    """row -= factor * other."""
    for j in range(row.size):
        row[j] -= factor * other[j]


@inner
def swap(row, other):
    for j in range(row.size):
        kept = row[j]
        row[j] = other[j]
        other[j] = kept


@called
def solve_block(block, x, start, size, first, upper):
    """Substitution in rows from `start` and columns from `first`, the diagonal being inverted.

    Rows are sliced one by one: of a slice in two dims Numba would not know that they are dense.
    """
    columns = x.shape[1] - first
    for step in range(size):
        i = size - 1 - step if upper else step
        row = x[start + i, first:]
        k, count = i + 1 if upper else 0, step
        while count >= 4:
            b0, b1, b2, b3 = block[i, k], block[i, k + 1], block[i, k + 2], block[i, k + 3]
            x0, x1 = x[start + k, first:], x[start + k + 1, first:]
            x2, x3 = x[start + k + 2, first:], x[start + k + 3, first:]
            for j in range(columns):
                row[j] -= b0 * x0[j] + b1 * x1[j] + b2 * x2[j] + b3 * x3[j]
            k += 4
            count -= 4
        while count > 0:
            subtract(row, block[i, k], x[start + k, first:])
            k += 1
            count -= 1
        scale = block[i, i]
        if scale != 1:
            for j in range(columns):
                row[j] *= scale


@called
def copy_block(block, t, start, size, unit, flag):
    """One diagonal block of a triangle, as it is used, with the inverted diagonal."""
    for i in range(size):
        for k in range(size):
            block[i, k] = t[start + k, start + i] if flag == TRANSPOSED else t[start + i, start + k]
        block[i, i] = T(1) if unit else T(1) / block[i, i]


@called
def solve_few(t, x, upper, unit, flag):
    """`solve_triangle` of what would be one block."""
    n, columns = x.shape
    for step in range(n):
        i = n - 1 - step if upper else step
        for k in range(i + 1 if upper else 0, n if upper else i):
            factor = t[k, i] if flag == TRANSPOSED else t[i, k]
            for j in range(columns):
                x[i, j] -= factor * x[k, j]
        if not unit:
            scale = T(1) / t[i, i]
            for j in range(columns):
                x[i, j] *= scale


@called
def solve_triangle(t, x, block, upper, unit, flag):
    """x = triangle^-1 @ x, in place. upper: of the triangle as it is used (transposed by flag)."""
    n, columns = x.shape
    if n <= BLOCK and columns <= BLOCK:
        solve_few(t, x, upper, unit, flag)
        return
    size_of = x.itemsize
    at_t, at_x, ld = t.ctypes.data, x.ctypes.data, t.shape[1]
    blocks = (n + BLOCK - 1) // BLOCK
    for step in range(blocks):
        start = (blocks - 1 - step if upper else step) * BLOCK
        size = min(BLOCK, n - start)
        done = start + size if upper else 0
        count = n - done if upper else start
        if count > 0:
            corner = done * ld + start if flag == TRANSPOSED else start * ld + done
            at, solved = at_x + start * columns * size_of, at_x + done * columns * size_of
            at_block = at_t + corner * size_of
            subtract_product(at, at_block, solved, flag, size, columns, count, ld, columns)
        copy_block(block, t, start, size, unit, flag)
        solve_block(block, x, start, size, 0, upper)


@called
def factor_panel(panel, width, length, pivots):
    """LU of a block of columns, which are the rows of `panel`; the number of the first zero pivot.

    pivots: where each row was swapped with, counted from 1.
    """
    size_of, zero = panel.itemsize, 0
    for j in range(width):
        column = panel[j, :length]
        best = j + largest(length - j, column.ctypes.data + j * size_of, 1)
        pivots[j] = best + 1
        if best != j:
            for k in range(width):
                kept = panel[k, j]
                panel[k, j] = panel[k, best]
                panel[k, best] = kept
        below = column[j + 1 :]
        if column[j] != 0:
            scale = T(1) / column[j]
            if np.isfinite(scale):
                for i in range(below.size):
                    below[i] *= scale
            else:  # a subnormal pivot has no reciprocal
                for i in range(below.size):
                    below[i] /= column[j]
        elif zero == 0:
            zero = j + 1
        for k in range(j + 1, width):
            subtract(panel[k, j + 1 : length], panel[k, j], below)
    return zero


@called
def factor_few(a, pivots):
    """`factor` of up to FEW rows, where they lie."""
    n, zero = a.shape[0], 0
    for j in range(n):
        best, size = j, abs(a[j, j])
        for i in range(j + 1, n):
            if abs(a[i, j]) > size:
                best, size = i, abs(a[i, j])
        pivots[j] = best + 1
        if best != j:
            for k in range(n):
                kept = a[j, k]
                a[j, k] = a[best, k]
                a[best, k] = kept
        pivot = a[j, j]
        if pivot == 0:
            zero = j + 1 if zero == 0 else zero
            continue
        scale = T(1) / pivot
        is_finite = np.isfinite(scale)
        for i in range(j + 1, n):
            a[i, j] = a[i, j] * scale if is_finite else a[i, j] / pivot
            factor = a[i, j]
            for k in range(j + 1, n):
                a[i, k] -= factor * a[j, k]
    return zero


@called
def factor(a, pivots, panel, block):
    """P, L and U of a square row-major matrix, in place; the number of the first zero pivot."""
    n = a.shape[0]
    if n <= FEW:
        return factor_few(a, pivots)
    size_of, at, info = a.itemsize, a.ctypes.data, 0
    for start in range(0, n, BLOCK):
        width, length, behind = min(BLOCK, n - start), n - start, min(start + BLOCK, n)
        for i in range(length):
            for j in range(width):
                panel[j, i] = a[start + i, start + j]
        zero = factor_panel(panel, width, length, pivots[start:behind])
        if info == 0 and zero > 0:
            info = start + zero
        for i in range(length):
            for j in range(width):
                a[start + i, start + j] = panel[j, i]
        for j in range(start, behind):
            pivots[j] += start
            other = pivots[j] - 1
            if other != j:
                swap(a[j, :start], a[other, :start])
                swap(a[j, behind:], a[other, behind:])
        if behind < n:
            copy_block(block, a, start, width, True, PLAIN)
            solve_block(block, a, start, width, behind, False)
            rest, left = n - behind, at + (behind * n + start) * size_of
            above, corner = at + (start * n + behind) * size_of, at + behind * (n + 1) * size_of
            subtract_product(corner, left, above, PLAIN, rest, rest, width, n, n)
    return info


@inner
def permute(x, swaps, backwards):
    """Exchange rows one after the other; backwards, the other way round."""
    n = swaps.size
    for step in range(n):
        i = n - 1 - step if backwards else step
        j = swaps[i] - 1
        if i != j:
            swap(x[i], x[j])


@entry
def factor_all(a, pivots, info):
    """Factorise each square matrix in place."""
    panel, block = np.empty((BLOCK, a.shape[1] + 16), T), np.empty((BLOCK, BLOCK), T)
    for i in range(a.shape[0]):
        info[i] = factor(a[i], pivots[i], panel, block)


@entry
def determinants(factors, pivots, out):
    """The products of the diagonals, with the signs of the exchanges."""
    for i in range(factors.shape[0]):
        product = T(1)
        for j in range(factors.shape[1]):
            product *= factors[i, j, j] if pivots[i, j] == j + 1 else -factors[i, j, j]
        out[i] = product


@entry
def solve_all(factors, pivots, x, transposed):
    """x = A^-1 @ x, or A^-T @ x, in place; equally many matrices each."""
    block = np.empty((BLOCK, BLOCK), T)
    first = TRANSPOSED if transposed else PLAIN
    for i in range(x.shape[0]):
        if not transposed:
            permute(x[i], pivots[i], False)
        solve_triangle(factors[i], x[i], block, False, not transposed, first)
        solve_triangle(factors[i], x[i], block, True, transposed, first)
        if transposed:
            permute(x[i], pivots[i], True)


@entry
def solve_triangles(triangles, x, upper, unit, transposed):
    """x = T^-1 @ x in place, T being each triangle, or its transpose. upper: of T."""
    block = np.empty((BLOCK, BLOCK), T)
    flag = TRANSPOSED if transposed else PLAIN
    for i in range(x.shape[0]):
        solve_triangle(triangles[i], x[i], block, upper, unit, flag)
'''


@cache
def compiled(dtype: Any) -> Any:
    """The module with the compiled functions for one dtype; None where BLAS has no product."""
    text = text_of(dtype)
    return None if text is None else build.load_text(f"lu_{dtype.name}", text)


@cache
def text_of(dtype: Any) -> str | None:
    """The text of that module."""
    gemm = blas.gemm_text(dtype)
    largest = (
        None if gemm is None else openblas.find_symbol(f"cblas_i{blas.LETTERS[dtype.name]}amax")
    )
    if gemm is None or largest is None:
        return None
    search = f'largest = types.ExternalFunction("{largest}", types.int64(N, N, N))\n'
    head = build.HEADER.format(title=f"lu: {dtype.name}.")
    parts = [head, gemm + search, TEXT]
    return "\n\n".join(parts)
