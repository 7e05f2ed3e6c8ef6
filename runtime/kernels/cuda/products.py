"""Products of our own: of integers, which the libraries do not multiply.

Sums wrap around, as on the CPU.
"""

# ruff: noqa: F821 - T, GROUP and the like are names of the compiled text.

from __future__ import annotations

from runtime.kernels.cuda.queue import Array, Folded, Queue
from runtime.kernels.cuda.rows import (
    WARPS,
    cut,
    first_row,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)
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

    Shape: out (m, n), a (m, k), b (k, n); or all with a batch before, or batch and heads. Any
    strides.
    """
    out, a, b = (each if each.ndim == 4 else _alone(each) for each in (out, a, b))
    batch, heads, m, k = a.sizes
    n = b.sizes[3]
    blocks = batch * heads * -(-m // TILE) * -(-n // TILE)
    numbers = (heads, m, n, k, *out.strides, *a.strides, *b.strides)
    threads = (TILE, TILE)
    run(queue, multiply_tiles, blocks, out, a, b, *numbers, threads=threads, ADDS=accumulate)


def _alone(matrix: Array) -> Array:
    """A matrix, or a batch of them, as a batch with one head."""
    missing = 4 - matrix.ndim
    sizes, strides = matrix.sizes, matrix.strides
    if missing == 1:
        return matrix.at(0, (sizes[0], 1, *sizes[1:]), (strides[0], 0, *strides[1:]))
    return matrix.at(0, (1, 1, *sizes), (0, 0, *strides))


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


def dot(queue: Queue, out: Array, a: Array, b: Array) -> None:
    """Write the sum of the products of two vectors, of any steps: in slices if they are long."""
    n = a.numel
    group, splits, chunk = cut(queue, Folded(1, n, 1))
    if splits == 1:
        run_rows(queue, sum_products, 1, group, out, a, b, 1, n, n, *a.strides, *b.strides)
        return
    parts, one = queue.empty((splits,), out.dtype), queue.empty((1,), out.dtype)
    queue.fill(one, 1)
    numbers = (splits, n, chunk, *a.strides, *b.strides)
    run_rows(queue, sum_products, splits, group, parts, a, b, *numbers)
    run_rows(queue, sum_products, 1, group, out, parts, one, 1, splits, splits, 1, 0)


@device_kernel("X* X* X*", "I I I I I")
def sum_products(out, a, b, pieces, count, chunk, step_a, step_b):
    """A group of threads owns a slice: lane t takes elements t, t + GROUP ..."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        i = I(piece * chunk + lane)
        stop = I(min(piece * chunk + chunk, count))
        total = T(0)
        while i < stop:
            total = T(total + T(a[I(i * step_a)] * b[I(i * step_b)]))
            i = I(i + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            out[piece] = total
        piece = I(piece + row_step())
