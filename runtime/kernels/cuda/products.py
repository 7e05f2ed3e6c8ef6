"""A matrix product of our own, for kernels that need small ones between their own steps.

Products that users ask for are a library's.
"""

# ruff: noqa: F821 - T, I and the like are names of the compiled text.

from __future__ import annotations

from runtime.kernels.cuda.queue import Array, Queue
from runtime.kernels.cuda.typed import device_kernel, run

TILE = 16
PITCH = TILE + 1
"""A row of a tile in shared memory is one element longer, so that a column lies in different
banks."""
CELLS = TILE * PITCH


def transposed(array: Array) -> Array:
    """A matrix seen the other way."""
    return array.at(0, array.sizes[::-1], array.strides[::-1])


def multiply(queue: Queue, out: Array, a: Array, b: Array, accumulate: bool = False) -> None:
    """out = a @ b, or out += a @ b, in the arrays' own type.

    Shape: out contiguous (m, n), a (m, k), b (k, n).
    """
    (m, k), n = a.sizes, b.sizes[1]
    blocks = -(-m // TILE) * -(-n // TILE)
    numbers = (m, n, k, *a.strides, *b.strides)
    threads = (TILE, TILE)
    run(queue, multiply_tiles, blocks, out, a, b, *numbers, threads=threads, ADDS=accumulate)


@device_kernel("X* X* X*", "I I I I I I I")
def multiply_tiles(out, a, b, m, n, k, a_row, a_column, b_row, b_column):
    """A block owns a tile of the result, and thread (x, y) its element in column x of row y."""
    a_tile = cuda.shared.array(CELLS, T)
    b_tile = cuda.shared.array(CELLS, T)
    x, y = I(cuda.threadIdx.x), I(cuda.threadIdx.y)
    across = I((n + TILE - 1) // TILE)
    down = divided(I(cuda.blockIdx.x), across)
    row = I(down * TILE + y)
    column = I((I(cuda.blockIdx.x) - down * across) * TILE + x)
    total = T(0)
    start = I(0)
    while start < k:
        # 1. A tile of each operand; zeros beyond their ends.
        i, j = I(start + x), I(start + y)
        a_tile[y * PITCH + x] = a[row * a_row + i * a_column] if row < m and i < k else T(0)
        b_tile[y * PITCH + x] = b[j * b_row + column * b_column] if j < k and column < n else T(0)
        cuda.syncthreads()
        # 2. Its part of the sum.
        for step in range(TILE):
            total = T(total + a_tile[y * PITCH + step] * b_tile[step * PITCH + x])
        cuda.syncthreads()
        start = I(start + TILE)
    if row < m and column < n:
        at = I(row * n + column)
        out[at] = T(out[at] + total) if ADDS else total
