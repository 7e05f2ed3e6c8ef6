"""Products of our own: of integers, which the libraries do not multiply.

Sums wrap around, as on the CPU.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous
from torchgen_out._runtime.kernels.cuda.rows import (
    WARPS,
    cut,
    first_row,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)

TILE = 16
PITCH = TILE + 1
"""A row of a tile in shared memory is one element longer, so that a column lies in different
banks."""
CELLS = TILE * PITCH


def multiply(queue: Queue, out: Array, a: Array, b: Array) -> None:
    """out = a @ b, in the arrays' own type.

    Shape: (batch, m, k), (batch, k, n) -> (batch, m, n). Any strides; operands without dense rows
    are copied, so that threads side by side read elements side by side.
    """
    a, b = (x if x.strides[2] == 1 else contiguous(queue, x) for x in (a, b))
    batch, m, k = a.sizes
    n = b.sizes[2]
    blocks = batch * -(-m // TILE) * -(-n // TILE)
    numbers = (m, n, k, *out.strides, *a.strides, *b.strides)
    run(queue, multiply_tiles, blocks, out, a, b, *numbers, threads=(TILE, TILE))


@device_kernel("X* X* X*", "I" + " I" * 11)
def multiply_tiles(
    out, a, b, m, n, k, out_batch, out_row, out_column, a_batch, a_row, a_column,
    b_batch, b_row, b_column,
):  # fmt: skip
    """A block owns a tile of one product, and thread (x, y) its element in column x of row y."""
    a_tile = cuda.shared.array(CELLS, T)
    b_tile = cuda.shared.array(CELLS, T)
    x, y = I(cuda.threadIdx.x), I(cuda.threadIdx.y)
    across = I((n + TILE - 1) // TILE)
    rest = divided(I(cuda.blockIdx.x), across)
    column = I((I(cuda.blockIdx.x) - rest * across) * TILE + x)
    down = I((m + TILE - 1) // TILE)
    batch = divided(rest, down)
    row = I((rest - batch * down) * TILE + y)
    a_start = I(batch * a_batch + row * a_row)
    b_start = I(batch * b_batch + column * b_column)
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
        out[I(batch * out_batch + row * out_row + column * out_column)] = total


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
