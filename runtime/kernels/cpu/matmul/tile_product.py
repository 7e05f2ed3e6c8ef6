"""Products of matrices on register tiles, for kernels that need them in their midst.

`product_text` gives a kernel's text functions over addresses: `pack` lays a matrix out in panels of
WIDTH columns, `multiply` multiplies any strided matrix by these. The tile is higher than that of
convolutions: rows at one distance need fewer addresses than rows anywhere, and the registers saved
hold sums. 12 x 32 sums of float32 on AVX-512 run as fast as MKL's (`benchmarks/cases/linalg.py`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile

DEPTH = 256  # steps of a panel that are in the first cache
GROUP = 3  # rows that are found from one address: at its distances 0, 1 and 2


@cache
def product_tile(dtype: Any, narrow: int = 0) -> Tile:
    """The tile for products of matrices of one element type: all registers but four hold sums.

    narrow: the lanes of a tile one vector wide, for few columns.
    """
    nbytes, count = register_tile.registers()
    lanes = nbytes // np.dtype(dtype).itemsize
    return Tile(12, 1, narrow) if narrow else Tile(12 if count == 32 else 6, 2, lanes)


def product_text(dtype: Any, narrow: int = 0) -> str:
    """The part of a kernel's text that defines products of matrices of one element type."""
    tile = product_tile(dtype, narrow)
    parts = [
        register_tile.tile_text(dtype, tile),
        f"GROUP, REST, SIZE = {GROUP}, {tile.rows // 3}, {np.dtype(dtype).itemsize}\n"
        f"DEPTH = {DEPTH}\n",
        *(build.plain_source(f) for f in (unrelated, build_strided, strided_product)),
        "whole_tile = strided_product(ROWS)\nrest_tile = strided_product(REST)\n",
        *("@inner\n" + build.plain_source(f) for f in (copy_lines,)),
        *("@outer\n" + build.plain_source(f) for f in (pack_panel, pack, multiply_panel, multiply)),
    ]
    return "\n\n".join(parts)


# What follows is compiled as part of kernels' texts. Addresses are int64, distances in elements.


def strided_product(height):
    """Make out[r, n] = before[r, n] + the sum over k < count of x[r, k] * panel[k, n], r < height.

    `gap`, `old_gap`, `row` and `hop` are the distances of rows, `step` that of the columns of x.
    The products are added up from zero, so that a long sum in pieces keeps the accuracy of its
    pieces.
    """

    @intrinsic
    def product(context, out, gap, before, old_gap, x, row, step, panel, hop, count):
        def build(context, builder, signature, args):
            build_strided(context, builder, args, height)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 10), build

    return product


def unrelated(builder, value):
    """The same value, in a register of which LLVM does not know where it comes from.

    Else it finds each row's address from the one before: a chain of additions, of which a processor
    makes one in a cycle, in which it could multiply two vectors.
    """
    return builder.asm(ir.FunctionType(value.type, [value.type]), "", "=r,0", [value], False)


def build_strided(context, builder, args, height):
    """Go through the steps with sums in registers, then add these to the old values."""
    out, gap, before, old_gap, x, row, step, panel, hop, count = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    out, before, x, panel = (
        builder.inttoptr(each, scalar.as_pointer()) for each in (out, before, x, panel)
    )
    starts = [builder.gep(x, [builder.mul(row, word(r))]) for r in range(0, height, GROUP)]
    distances = [word(0), row, unrelated(builder, builder.add(row, row))]
    entry, body = builder.block, builder.append_basic_block("step")
    after = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", count, word(0)), body, after)
    builder.position_at_end(body)
    left, line = builder.phi(word), builder.phi(panel.type)
    heads = [builder.phi(x.type) for _ in starts]
    sums = [builder.phi(vector) for _ in range(height * VECTORS)]
    factors = [
        builder.load(vector_place(builder, line, word(v * LANES), vector), align=SIZE)
        for v in range(VECTORS)
    ]
    here = [unrelated(builder, head) for head in heads]
    places = [builder.gep(here[r // GROUP], [distances[r % GROUP]]) for r in range(height)]
    new = accumulate(builder, places, factors, sums)
    zero = ir.Constant(vector, [0.0] * LANES)
    following = builder.sub(left, word(1))
    initial = count, panel, *starts, *[zero] * len(sums)
    moved = [builder.gep(head, [step]) for head in here]
    later = following, builder.gep(line, [hop]), *moved, *new
    for phi, first, value in zip((left, line, *heads, *sums), initial, later, strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, body)
    builder.cbranch(builder.icmp_signed(">", following, word(0)), body, after)
    builder.position_at_end(after)
    totals = [builder.phi(vector) for _ in new]
    for phi, value in zip(totals, new, strict=True):
        phi.add_incoming(zero, entry)
        phi.add_incoming(value, body)
    for i, value in enumerate(totals):
        r, v = divmod(i, VECTORS)
        old = builder.add(builder.mul(old_gap, word(r)), word(v * LANES))
        old = builder.load(vector_place(builder, before, old, vector), align=SIZE)
        at = builder.add(builder.mul(gap, word(r)), word(v * LANES))
        builder.store(builder.fadd(old, value), vector_place(builder, out, at, vector), align=SIZE)


def multiply_panel(out, gap, before, old_gap, m, here, x, row, step, panel, hop, count, edge):
    """out[i, j] = before[i, j] + the sum over k < count of x[i, k] * panel[k, j], i < m, j < here.

    edge: room for the sums of a tile that is not written as a whole, and a line of zeros.
    """
    stay_apart()
    i = 0
    while i < m:
        height = ROWS if m - i >= ROWS else REST
        first, distance = i, row
        if m < REST:
            distance, n = 0, 1  # the same row again and again: there are no others to read
        else:
            first = min(i, m - height)
            n = first + height - i
        at, start = out + i * gap * SIZE, before + i * old_gap * SIZE
        if here == WIDTH and n == height:
            target, far, base, base_far = at, gap, start, old_gap
        else:
            target, far, base, base_far = edge, WIDTH, edge + ROWS * WIDTH * SIZE, 0
        source = x + first * row * SIZE
        if height == ROWS:
            whole_tile(target, far, base, base_far, source, distance, step, panel, hop, count)
        else:
            rest_tile(target, far, base, base_far, source, distance, step, panel, hop, count)
        if target == edge:
            skipped = edge + (i - first) * WIDTH * SIZE
            for r in range(n):
                for j in range(here):
                    value = element(start, r * old_gap + j) + element(skipped, r * WIDTH + j)
                    put(at, r * gap + j, value)
        i += n


def copy_lines(target, source, hop, count):
    """target[k, n] = source[k, n] for n < WIDTH, the lines of source `hop` apart."""
    for k in range(count):
        copy_line(target, k * WIDTH, source, k * hop)


def pack_panel(target, source, row, column, count, here):
    """target[k, n] = source[k * row + n * column] for n < here, 0 for others below WIDTH."""
    stay_apart()
    if here < WIDTH:
        for i in range(count * WIDTH):
            put(target, i, T(0))
    if column == 1 and here == WIDTH:
        copy_lines(target, source, row, count)
    elif row == 1:
        transpose(target, 0, WIDTH, source, 0, column, count, here)
    else:
        for k in range(count):
            for n in range(here):
                put(target, k * WIDTH + n, element(source, k * row + n * column))


def pack(target, source, row, column, count, n):
    """Lay (count, n) elements out in panels of WIDTH columns, one after the other."""
    stay_apart()
    for j in range(0, n, WIDTH):
        to = target + j * count * SIZE
        pack_panel(to, source + j * column * SIZE, row, column, count, min(WIDTH, n - j))


def multiply(out, gap, before, old_gap, m, n, x, row, step, panels, depth, count, edge):
    """out[i, j] = before[i, j] + the sum over k < count of x[i, k] * panels[k, j], i < m, j < n.

    before: 0 for nothing. depth: the lines of a panel. Long sums are added up in pieces.
    """
    stay_apart()
    for k in range(0, max(count, 1), DEPTH):
        steps = min(DEPTH, count - k)
        for j in range(0, n, WIDTH):
            panel = panels + (j * depth + k * WIDTH) * SIZE
            at = out + j * SIZE
            if k:
                start, far = at, gap
            elif before:
                start, far = before + j * SIZE, old_gap
            else:
                start, far = edge + ROWS * WIDTH * SIZE, np.int64(0)
            source = x + k * step * SIZE
            here = min(WIDTH, n - j)
            multiply_panel(
                at, gap, start, far, m, here, source, row, step, panel, WIDTH, steps, edge
            )
