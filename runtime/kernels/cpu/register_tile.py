"""Products and transposes of tiles that stay in registers, for any target that LLVM knows.

LLVM's vectoriser keeps no two-dimensional tile of sums in registers: these loops are built
instruction by instruction, as intrinsics of Numba. `tile_text` gives them to a kernel's text,
together with the sizes that suit the machine: ROWS x WIDTH sums, WIDTH = VECTORS * LANES.
With 8 x 32 sums of float32 on AVX-512 the product runs at 95 % of oneDNN's speed
(`benchmarks/cases/convolution.py`).
"""

# ruff: noqa: F821 - names of the compiled text: LANES, ROWS, VECTORS, WIDTH, ir, types.

from __future__ import annotations

import platform
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from runtime.kernels import build

Array = Any
CONTRACT = ("contract",)
IMPORTS = """\
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
"""


@cache
def registers() -> tuple[int, int]:
    """How many bytes a vector register has, and how many registers there are."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if platform.machine().lower() in ("aarch64", "arm64"):
        return 16, 32
    if features.get("avx512f"):
        return 64, 32
    return (32, 16) if features.get("avx2") else (16, 16)


class Tile(NamedTuple):
    """The sums of a product that stay in registers: rows times (vectors times lanes)."""

    rows: int
    vectors: int
    lanes: int

    @property
    def width(self) -> int:
        """The results beside each other."""
        return self.vectors * self.lanes

    def panels(self, outputs: int) -> int:
        """How many panels of this width hold some outputs."""
        return -(-outputs // self.width)


@cache
def tile_for(dtype: Any, outputs: int) -> Tile:
    """The tile for rows of some outputs.

    Two vectors hide the arithmetic's latency and need few loads; the rows fill the registers.
    """
    nbytes, count = registers()
    lanes = nbytes // np.dtype(dtype).itemsize
    return Tile(8 if count == 32 else 6, 1 if outputs <= lanes else 2, lanes)


def tile_text(dtype: Any, tile: Tile) -> str:
    """The part of a kernel's text that defines the tiles for one element type."""
    names = f"""\
ROWS, VECTORS, LANES = {tile.rows}, {tile.vectors}, {tile.lanes}
WIDTH = VECTORS * LANES
CONTRACT = {CONTRACT}
T = np.{np.dtype(dtype).name}
"""
    plain = (data_of, vector_place, exchange, accumulate, build_product, build_transpose)
    parts = [
        IMPORTS,
        names,
        *(build.plain_source(function) for function in plain),
        *("@intrinsic\n" + build.plain_source(f) for f in (multiply_tile, transpose_tile)),
        "@inner\n" + build.plain_source(transpose),
    ]
    return "\n\n".join(parts)


# What follows is compiled as part of kernels' texts.


def multiply_tile(
    context, out, at, old, gap, x, origin, rows, row, steps, start, stop, panel, place
):
    """out[at + r * WIDTH + n] = out[old + r * gap + n]
    + the sum over k of x[origin + rows[row + r] + steps[k]] * panel[k, n].

    k goes from start to stop, which is larger; panel[start, 0] is at `place`. The products are
    added up from zero, so that a long sum in pieces keeps the accuracy of its pieces.
    """
    number = types.intp
    sums = (out, number, number, number)
    return types.void(
        *sums, x, number, rows, number, steps, number, number, panel, number
    ), build_product


def build_product(context, builder, signature, args):
    """Go through the steps with sums in registers, then add these to the old values."""
    out, x, rows, steps, panel = (
        data_of(context, builder, signature, args, i) for i in (0, 4, 6, 8, 11)
    )
    at, old, gap, origin, row, start, stop, place = (args[i] for i in (1, 2, 3, 5, 7, 9, 10, 12))
    scalar = context.get_data_type(signature.args[4].dtype)
    word, vector, size = ir.IntType(64), ir.VectorType(scalar, LANES), T(0).itemsize
    begins = []
    for r in range(ROWS):
        offset = builder.load(builder.gep(rows, [builder.add(row, word(r))]))
        begins.append(builder.gep(x, [builder.add(origin, offset)]))
    before, body = builder.block, builder.append_basic_block("step")
    after = builder.append_basic_block("done")
    builder.branch(body)
    builder.position_at_end(body)
    k, at_panel = builder.phi(word), builder.phi(word)
    sums = [builder.phi(vector) for _ in range(ROWS * VECTORS)]
    step = builder.load(builder.gep(steps, [k]))
    factors = [
        builder.load(
            vector_place(builder, panel, builder.add(at_panel, word(v * LANES)), vector),
            align=size,
        )
        for v in range(VECTORS)
    ]
    new = accumulate(builder, begins, step, factors, sums)
    following = builder.add(k, word(1))
    further = builder.add(at_panel, word(WIDTH))
    zero = ir.Constant(vector, [0.0] * LANES)
    initial = start, place, *[zero] * len(sums)
    later = following, further, *new
    for phi, first, value in zip((k, at_panel, *sums), initial, later, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(value, body)
    builder.cbranch(builder.icmp_signed("<", following, stop), body, after)
    builder.position_at_end(after)
    for i, value in enumerate(new):
        r, v = divmod(i, VECTORS)
        before = builder.add(builder.add(old, builder.mul(gap, word(r))), word(v * LANES))
        before = builder.load(vector_place(builder, out, before, vector), align=size)
        pointer = vector_place(builder, out, builder.add(at, word(i * LANES)), vector)
        builder.store(builder.fadd(before, value), pointer, align=size)
    return context.get_dummy_value()


def accumulate(builder, begins, step, factors, sums):
    """One step: each row's element, in all lanes, times each vector of the panel."""
    vector = factors[0].type
    nothing = ir.Constant(vector, ir.Undefined)
    zero = ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    new = []
    for r in range(ROWS):
        value = builder.load(builder.gep(begins[r], [step]))
        value = builder.shuffle_vector(
            builder.insert_element(nothing, value, zero), nothing, everywhere
        )
        for v in range(VECTORS):
            product = builder.fmul(value, factors[v], flags=CONTRACT)
            new.append(builder.fadd(product, sums[r * VECTORS + v], flags=CONTRACT))
    return new


def transpose_tile(context, target, at, stride, source, start, step):
    """target[at + i * stride + j] = source[start + j * step + i] for i, j < LANES."""
    number = types.intp
    return types.void(target, number, number, source, number, number), build_transpose


def build_transpose(context, builder, signature, args):
    """Exchange blocks off the diagonal: of half the lanes first, of single lanes last."""
    target, source = (data_of(context, builder, signature, args, i) for i in (0, 3))
    at, stride, start, step = (args[i] for i in (1, 2, 4, 5))
    scalar = context.get_data_type(signature.args[3].dtype)
    word, vector, size = ir.IntType(64), ir.VectorType(scalar, LANES), T(0).itemsize
    lines = []
    for j in range(LANES):
        place = builder.add(start, builder.mul(step, word(j)))
        lines.append(builder.load(vector_place(builder, source, place, vector), align=size))
    half = LANES // 2
    while half:
        lines = exchange(builder, lines, half)
        half //= 2
    for i in range(LANES):
        place = builder.add(at, builder.mul(stride, word(i)))
        builder.store(lines[i], vector_place(builder, target, place, vector), align=size)
    return context.get_dummy_value()


def exchange(builder, lines, half):
    """Lines i and i + half exchange their blocks of `half` lanes off the diagonal."""
    kind = ir.VectorType(ir.IntType(32), LANES)
    low = [n + LANES - half if n & half else n for n in range(LANES)]
    high = [n + LANES if n & half else n + half for n in range(LANES)]
    result = list(lines)
    for i in range(LANES):
        if not i & half:
            pair = lines[i], lines[i + half]
            result[i] = builder.shuffle_vector(*pair, ir.Constant(kind, low))
            result[i + half] = builder.shuffle_vector(*pair, ir.Constant(kind, high))
    return result


def data_of(context, builder, signature, args, place):
    """The pointer to an array argument's elements."""
    return context.make_array(signature.args[place])(context, builder, args[place]).data


def vector_place(builder, pointer, index, vector):
    """The pointer to the vector that begins at an element."""
    return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())


def transpose(target, at, stride, source, start, step, lines, count):
    """target[at + i * stride + j] = source[start + j * step + i] for i < lines, j < count."""
    whole, full = lines - lines % LANES, count - count % LANES
    for j in range(0, full, LANES):
        for i in range(0, whole, LANES):
            transpose_tile(target, at + i * stride + j, stride, source, start + j * step + i, step)
    for i in range(lines):
        for j in range(full if i < whole else 0, count):
            target[at + i * stride + j] = source[start + j * step + i]
