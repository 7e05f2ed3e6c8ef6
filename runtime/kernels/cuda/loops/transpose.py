"""The text of the CUDA loop that copies transposed memory: through tiles in shared memory.

Read along the rows of the result, such an operand would cost a memory transaction per element. A
tile is read along the operand's rows and written along the result's, both in whole transactions.
"""

from __future__ import annotations

from functools import cache

from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops.pointwise import (
    DIVIDE,
    DIVIDE_WIDE,
    INDEX_TYPES,
    load,
    preamble,
    storage_type,
    store,
)

TILE = 32
ROWS = 8
"""Rows of threads in a block, each of 32: every thread moves four elements of a tile."""

KERNEL = '''\
def kernel({parameters}):
    """A block owns a tile: thread (x, y) reads elements (x, y + 8 k), writes (y + 8 k, x)."""
    tile = cuda.shared.array(CELLS, SHARED)
    column = INDEX(cuda.threadIdx.x)
    row = INDEX(cuda.threadIdx.y)
    step = INDEX(cuda.gridDim.x)
    piece = INDEX(cuda.blockIdx.x)
    while piece < pieces:
        tiles = INDEX(np.uint32(piece) // np.uint32(tiles_n))
        first_n = INDEX((piece - tiles * tiles_n) * TILE)
        rest = INDEX(np.uint32(tiles) // np.uint32(tiles_m))
        first_m = INDEX((tiles - rest * tiles_m) * TILE)
        p_out = INDEX(0)
        p_x = INDEX(0)
{outer}
        # 1. The tile's rows along m, in which the operand is dense.
        i = INDEX(first_m + column)
        for k in range(row, TILE, ROWS):
            j = INDEX(first_n + k)
            if i < m and j < n:
                tile[INDEX(k * PITCH + column)] = {element}
        cuda.syncthreads()
        # 2. Its columns along n, in which the result is dense.
        j = INDEX(first_n + column)
        for k in range(row, TILE, ROWS):
            i = INDEX(first_m + k)
            if i < m and j < n:
                out[INDEX(p_out + i * out_m + j)] = tile[INDEX(column * PITCH + k)]
        cuda.syncthreads()
        piece = INDEX(piece + step)
'''


def transposing_kernel(spec: PointwiseSpec, outer: int, wide: bool) -> Source:
    """kernel(out, x, pieces, tiles_m, tiles_n, m, n, out_m, x_n, *divisors, *strides).

    The result is dense along n, the operand along m. outer: how many dims there are besides, with
    divisors of all but the first, the innermost first, then strides of the result and the operand.
    """
    index = INDEX_TYPES[wide]
    pointers = [f"{storage_type(each)}*" for each in (*spec.outputs, *spec.inputs)]
    divisors = (index, "uint32", "uint32") * max(outer - 1, 0)
    arguments = (*pointers, *(index,) * 7, *divisors, *(index,) * (2 * outer))
    text = transposing_text(spec, outer, wide)
    return Source(f"{spec.name}_transposing", text, arguments, TILE * ROWS)


@cache
def transposing_text(spec: PointwiseSpec, outer: int, wide: bool) -> str:
    """The text of the loop over tiles. A row of a tile in shared memory is one element longer, so
    that a column lies in different banks."""
    inner = range(outer - 1, 0, -1)
    divisors = [f"{part}{dim}" for dim in inner for part in ("size", "multiplier", "shift")]
    strides = [f"{name}_s{dim}" for name in ("out", "x") for dim in range(outer)]
    fixed = ["out", "x", "pieces", "tiles_m", "tiles_n", "m", "n", "out_m", "x_n"]
    lines = []
    for dim in inner:
        lines += [
            f"quotient = divide(rest, size{dim}, multiplier{dim}, shift{dim})",
            f"at = INDEX(rest - quotient * size{dim})",
            *(f"p_{name} = INDEX(p_{name} + at * {name}_s{dim})" for name in ("out", "x")),
            "rest = quotient",
        ]
    if outer:
        lines += [f"p_{name} = INDEX(p_{name} + rest * {name}_s0)" for name in ("out", "x")]
    value = load("x[INDEX(p_x + i + j * x_n)]", spec.inputs[0], spec.compute)
    shared = storage_type(spec.outputs[0])
    constants = (
        f"TILE = {TILE}\nROWS = {ROWS}\nPITCH = {TILE + 1}\nCELLS = {TILE * (TILE + 1)}\n"
        f"SHARED = np.{shared}\n"
    )
    kernel = KERNEL.format(
        parameters=", ".join([*fixed, *divisors, *strides]),
        outer="\n".join("        " + line for line in lines),
        element=store(spec.result(f"{spec.name}({value})", spec.outputs[0]), spec.outputs[0]),
    )
    divide = DIVIDE_WIDE if wide else DIVIDE
    return f"{preamble(spec, 'transposing', wide)}{constants}\n\n{divide}\n\n{kernel}"
