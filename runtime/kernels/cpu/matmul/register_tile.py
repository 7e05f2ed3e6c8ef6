"""Products and transposes of tiles that stay in registers, for any target that LLVM knows.

LLVM's vectoriser keeps no two-dimensional tile of sums in registers: these loops are built
instruction by instruction, as intrinsics of Numba. `tile_text` gives them to a kernel's text,
together with the sizes that suit the machine: ROWS x WIDTH sums, WIDTH = VECTORS * LANES. Where
they take an array they also take the address of its first element, as an int64.
With 8 x 32 sums of float32 on AVX-512 the product runs at 95 % of oneDNN's speed
(`benchmarks/cases/convolution.py`).
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.machine import host

Array = Any
CONTRACT = ("contract",)
IMPORTS = """\
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic

outer = njit(forceinline=False, no_cpython_wrapper=True, **options)
"""


@cache
def registers() -> tuple[int, int]:
    """How many bytes a vector register has, and how many registers there are."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return 16, 32
    if host.compiles_for("avx512f"):
        return 64, 32
    return (32, 16) if host.compiles_for("avx2") else (16, 16)


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


def loop_entry(
    stem: str, parts: Sequence[str], kernels: Mapping[str, tuple[Any, str]], name: str, dtype: Any
) -> Any:
    """A kernel of a text in parts, for elements of one type.

    kernels: each function, and its arguments in letters: arrays of elements (T), of int64 (i),
    whole numbers (n).
    """
    types = {"T": dtype, "i": np.dtype(np.int64), "n": int}
    function, kinds = kernels[name]
    arguments = tuple([types[kind] for kind in kinds])
    text = "\n\n".join(parts)
    return build.entry_point(f"{stem}_{dtype.name}", text, arguments, function.__name__)


def transpose_text(dtype: Any) -> str:
    """The part of a kernel's text that defines `transpose` for elements of one type, named `T`."""
    lanes = min(8, registers()[0] // np.dtype(dtype).itemsize)  # more only compile longer
    plain = (data_of, vector_place, exchange, build_transpose)
    return _joined(
        [f"{IMPORTS}\n\nLANES = {lanes}"], plain, (stay_apart, transpose_tile, element, put)
    )


def tile_text(dtype: Any, tile: Tile) -> str:
    """The part of a kernel's text that defines the tiles for one element type."""
    names = f"""\
ROWS, VECTORS, LANES = {tile.rows}, {tile.vectors}, {tile.lanes}
WIDTH = VECTORS * LANES
CONTRACT = {CONTRACT}
T = np.{np.dtype(dtype).name}
"""
    plain = (data_of, vector_place, exchange, accumulate, build_product, build_transpose)
    intrinsics = (stay_apart, multiply_tile, transpose_tile, element, put, copy_line)
    return _joined([IMPORTS, names], plain, intrinsics)


def _joined(head: Sequence[str], plain: Sequence[Any], intrinsics: Sequence[Any]) -> str:
    parts = [
        *head,
        *(build.plain_source(function) for function in plain),
        *("@intrinsic\n" + build.plain_source(function) for function in intrinsics),
        "@outer\n" + build.plain_source(transpose),
    ]
    return "\n\n".join(parts)


# What follows is compiled as part of kernels' texts.


def stay_apart(context):
    """Keep the function that calls this out of its callers, which compile sooner without it."""

    def emit(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), emit


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
    new = accumulate(builder, [builder.gep(begin, [step]) for begin in begins], factors, sums)
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


def accumulate(builder, places, factors, sums):
    """One step: the element at each row's place, in all lanes, times each vector of the panel."""
    vector = factors[0].type
    nothing = ir.Constant(vector, ir.Undefined)
    zero = ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    new = []
    for r, place in enumerate(places):
        value = builder.load(place)
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
    word, size = ir.IntType(64), T(0).itemsize
    vector = ir.VectorType(source.type.pointee, LANES)
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


def element(context, x, i):
    """x[i]."""

    def emit(context, builder, signature, args):
        return builder.load(builder.gep(data_of(context, builder, signature, args, 0), [args[1]]))

    return from_dtype(np.dtype(T))(x, types.int64), emit


def put(context, x, i, value):
    """x[i] = value."""

    def emit(context, builder, signature, args):
        place = builder.gep(data_of(context, builder, signature, args, 0), [args[1]])
        builder.store(args[2], place)
        return context.get_dummy_value()

    return types.void(x, types.int64, from_dtype(np.dtype(T))), emit


def copy_line(context, target, at, source, start):
    """target[at + n] = source[start + n] for n < WIDTH."""

    def emit(context, builder, signature, args):
        to, origin = (data_of(context, builder, signature, args, i) for i in (0, 2))
        vector, size = ir.VectorType(origin.type.pointee, LANES), T(0).itemsize
        for v in range(VECTORS):
            step = ir.IntType(64)(v * LANES)
            place = vector_place(builder, origin, builder.add(args[3], step), vector)
            value = builder.load(place, align=size)
            place = vector_place(builder, to, builder.add(args[1], step), vector)
            builder.store(value, place, align=size)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), emit


def data_of(context, builder, signature, args, place):
    """The pointer to the elements of an array, or to those at an address."""
    if isinstance(signature.args[place], types.Integer):
        scalar = context.get_data_type(from_dtype(np.dtype(T)))
        return builder.inttoptr(args[place], scalar.as_pointer())
    return context.make_array(signature.args[place])(context, builder, args[place]).data


def vector_place(builder, pointer, index, vector):
    """The pointer to the vector that begins at an element."""
    return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())


def transpose(target, at, stride, source, start, step, lines, count):
    """target[at + i * stride + j] = source[start + j * step + i] for i < lines, j < count.

    A tile's lines are written to their ends first: where they lie a multiple of 4 KB apart, more of
    them would push each other out of the first cache.
    """
    stay_apart()
    whole, full = lines - lines % LANES, count - count % LANES
    for i in range(0, whole, LANES):
        for j in range(0, full, LANES):
            transpose_tile(target, at + i * stride + j, stride, source, start + j * step + i, step)
    for i in range(lines):
        for j in range(full if i < whole else 0, count):
            put(target, at + i * stride + j, element(source, start + j * step + i))
