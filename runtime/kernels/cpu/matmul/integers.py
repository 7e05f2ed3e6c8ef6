"""Products of matrices of whole numbers, which BLAS has not and NumPy computes one by one.

Columns of the second factor are copied side by side, a panel at a time. Four rows of the first meet
it together: a line of the panel, times a number of each row, is added to four lines of sums, which
stay in the first cache. Of 64-bit numbers the multiplications take the time, three steps each.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torchgen_out._runtime.kernels import build, threads

Array = Any
FEWEST, NARROWEST = 1 << 12, 8
"""Products of elements, and columns, of which fewer are left to NumPy."""
WORK = 8
"""Products that take as long as an element of element-wise work."""
ROWS, WIDTH = 4, 32

_TEXT = '''\
@entry
def kernel(start, stop, out, a, b, alpha, beta):
    """out = alpha * a @ b + beta * out in blocks of ROWS rows, those of all matrices counted
    through. Of the last block rows may be computed twice, and columns that nobody asks for."""
    rows, inner, columns = a.shape[1], a.shape[2], b.shape[2]
    blocks = (rows + ROWS - 1) // ROWS
    panel = np.empty(inner * WIDTH, out.dtype)
    sums = np.empty(ROWS * WIDTH, out.dtype)
    sums0, sums1 = sums[:WIDTH], sums[WIDTH : 2 * WIDTH]
    sums2, sums3 = sums[2 * WIDTH : 3 * WIDTH], sums[3 * WIDTH :]
    for matrix in range(start // blocks, (stop + blocks - 1) // blocks):
        first, last = max(start - matrix * blocks, 0), min(stop - matrix * blocks, blocks)
        for left in range(0, columns, WIDTH):
            width = min(WIDTH, columns - left)
            for k in range(inner):
                for j in range(width):
                    panel[k * WIDTH + j] = b[matrix, k, left + j]
            for block in range(first, last):
                row0 = block * ROWS
                row1, row2 = min(row0 + 1, rows - 1), min(row0 + 2, rows - 1)
                row3 = min(row0 + 3, rows - 1)
                for j in range(ROWS * WIDTH):
                    sums[j] = 0
                for k in range(inner):
                    line = panel[k * WIDTH : (k + 1) * WIDTH]
                    a0, a1 = a[matrix, row0, k], a[matrix, row1, k]
                    a2, a3 = a[matrix, row2, k], a[matrix, row3, k]
                    for j in range(WIDTH):
                        sums0[j] += a0 * line[j]
                        sums1[j] += a1 * line[j]
                        sums2[j] += a2 * line[j]
                        sums3[j] += a3 * line[j]
                for r in range(min(ROWS, rows - row0)):
                    for j in range(width):
                        total = alpha * sums[r * WIDTH + j]
                        if beta != 0:
                            total += beta * out[matrix, row0 + r, left + j]
                        out[matrix, row0 + r, left + j] = total
'''


def suits(out: Array, inner: int) -> bool:
    """Whether the product is one of whole numbers, and of enough of them."""
    is_wide = out.dtype.kind in "iu" and out.shape[-1] >= NARROWEST
    return is_wide and out.size * inner >= FEWEST


def multiply(out: Array, a: Array, b: Array, alpha: int, beta: int) -> None:
    """out = alpha * a @ b + beta * out of matrices, or batches of them; sums wrap round."""
    if out.ndim == 2:
        out, a, b = out[None], a[None], b[None]
    kernel = _kernel(out.dtype)
    blocks = len(out) * -(-out.shape[1] // ROWS)
    work = out.size * a.shape[2] // WORK
    threads.run_ranges(kernel, blocks, work, out, a, b, alpha, beta)


@cache
def _kernel(dtype: Any) -> Any:
    sizes = f"ROWS, WIDTH = {ROWS}, {WIDTH}\n"
    text = "\n\n".join([build.HEADER.format(title="Products of whole numbers."), sizes, _TEXT])
    arrays = [f"{dtype.name}[3{layout}]" for layout in "CAA"]
    return build.entry_point("whole_product", text, ("int64", "int64", *arrays, "int64", "int64"))
