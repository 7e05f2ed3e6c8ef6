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

    Shape: out (m, n), a (m, k), b (k, n); or all with a batch and heads before. Any strides.
    """
    out, a, b = (each if each.ndim == 4 else _alone(each) for each in (out, a, b))
    batch, heads, m, k = a.sizes
    n = b.sizes[3]
    blocks = batch * heads * -(-m // TILE) * -(-n // TILE)
    numbers = (heads, m, n, k, *out.strides, *a.strides, *b.strides)
    threads = (TILE, TILE)
    run(queue, multiply_tiles, blocks, out, a, b, *numbers, threads=threads, ADDS=accumulate)


def _alone(matrix: Array) -> Array:
    """A matrix as a batch of one with one head."""
    return matrix.at(0, (1, 1, *matrix.sizes), (0, 0, *matrix.strides))


@device_kernel("X* X* X*", "I" + " I" * 15)
def multiply_tiles(
    out, a, b, heads, m, n, k, out_batch, out_head, out_row, out_column,
    a_batch, a_head, a_row, a_column, b_batch, b_head, b_row, b_column,
):  # fmt: skip
    """A block owns a tile of one product, and thread (x, y) its element in column x of row y."""
    a_tile = cuda.shared.array(CELLS, T)
    b_tile = cuda.shared.array(CELLS, T)
    x, y = I(cuda.threadIdx.x), I(cuda.threadIdx.y)
    across = I((n + TILE - 1) // TILE)
    rest = divided(I(cuda.blockIdx.x), across)
    column = I((I(cuda.blockIdx.x) - rest * across) * TILE + x)
    pair = divided(rest, I((m + TILE - 1) // TILE))
    row = I((rest - pair * I((m + TILE - 1) // TILE)) * TILE + y)
    batch = divided(pair, heads)
    head = I(pair - batch * heads)
    a_start = I(batch * a_batch + head * a_head + row * a_row)
    b_start = I(batch * b_batch + head * b_head + column * b_column)
    total = T(0)
    start = I(0)
    while start < k:
        # 1. A tile of each operand; zeros beyond their ends.
        i, j = I(start + x), I(start + y)
        is_inside = row < m and i < k
        a_tile[y * PITCH + x] = a[a_start + i * a_column] if is_inside else T(0)
        is_inside = j < k and column < n
        b_tile[y * PITCH + x] = b[b_start + j * b_row] if is_inside else T(0)
        cuda.syncthreads()
        # 2. Its part of the sum.
        for step in range(TILE):
            total = T(total + a_tile[y * PITCH + step] * b_tile[step * PITCH + x])
        cuda.syncthreads()
        start = I(start + TILE)
    if row < m and column < n:
        at = I(batch * out_batch + head * out_head + row * out_row + column * out_column)
        out[at] = T(out[at] + total) if ADDS else total
