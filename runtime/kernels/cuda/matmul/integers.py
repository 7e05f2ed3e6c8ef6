"""Products of our own: of integers, which the libraries do not multiply.

Sums wrap around, as on the CPU.
"""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run
from torchgen_out._runtime.kernels.cuda.programs import run_program
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous

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
    """Write the sum of the products of two vectors, of any steps: the one product of two rows."""
    first = queue.empty((1,), dtypes.int64)
    queue.fill(first, 0)
    rows = [x.at(0, (1, *x.sizes), (0, *x.strides)) for x in (a, b)]
    run_program(queue, "_sampled_products", out.at(0, (1,), (1,)), first, first, *rows)
