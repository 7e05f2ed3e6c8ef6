"""The steps of Fourier transforms in the lanes of vectors, instruction by instruction.

An element is two lines of LANES numbers, the real parts and the imaginary ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile


def steps_text(dtype: Any, lanes: int) -> str:
    """The part of a kernel's text that defines the steps for one element type."""
    plain = load, spread, multiply_complex, build_four, build_split
    intrinsics = step_of_four, step_of_two, split_half, scale_line, exchange_parts
    parts = [
        register_tile.tile_text(dtype, register_tile.Tile(1, 1, lanes)),
        f"SIZE = {np.dtype(dtype).itemsize}\n",
        *(build.plain_source(function) for function in plain),
        *("@intrinsic\n" + build.plain_source(function) for function in intrinsics),
    ]
    return "\n\n".join(parts)


# What follows is compiled as part of kernels' texts. Addresses are int64.


def load(builder, address, offset, vector):
    """The vector at some elements from an address."""
    pointer = builder.inttoptr(address, vector.element.as_pointer())
    return builder.load(vector_place(builder, pointer, offset, vector), align=SIZE)


def spread(builder, number, vector):
    """A vector of one number."""
    nothing = ir.Constant(vector, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    single = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, nothing, everywhere)


def multiply_complex(builder, factor, value):
    """The parts of a product of two complex numbers given by their parts."""
    (a, b), (x, y) = factor, value
    real = builder.fsub(builder.fmul(a, x), builder.fmul(b, y, flags=CONTRACT), flags=CONTRACT)
    other = builder.fadd(builder.fmul(a, y), builder.fmul(b, x, flags=CONTRACT), flags=CONTRACT)
    return real, other


def step_of_four(context, place, gap, factors, real):
    """Four elements `gap` apart become their transform, turned by three factors.

    real: 0, or LANES for a transform with the opposite sign, which exchanges the parts.
    """
    return types.void(*[types.int64] * 4), build_four


def build_four(context, builder, signature, args):
    """The sums and differences, then the products with the factors."""
    place, gap, factors, real = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    offsets = real, builder.sub(word(LANES), real)
    values = []
    for i in range(4):
        start = builder.mul(gap, word(i))
        values.append([load(builder, place, builder.add(start, o), vector) for o in offsets])
    (ar, ai), (br, bi), (cr, ci), (dr, di) = values
    plus = builder.fadd(ar, cr), builder.fadd(ai, ci)
    minus = builder.fsub(ar, cr), builder.fsub(ai, ci)
    other = builder.fadd(br, dr), builder.fadd(bi, di)
    turned = builder.fsub(bi, di), builder.fsub(dr, br)  # -i times the difference
    sums = [
        (builder.fadd(plus[0], other[0]), builder.fadd(plus[1], other[1])),
        (builder.fadd(minus[0], turned[0]), builder.fadd(minus[1], turned[1])),
        (builder.fsub(plus[0], other[0]), builder.fsub(plus[1], other[1])),
        (builder.fsub(minus[0], turned[0]), builder.fsub(minus[1], turned[1])),
    ]
    pointer = builder.inttoptr(factors, scalar.as_pointer())
    for i in range(1, 4):
        factor = []
        for part in range(2):
            number = builder.load(builder.gep(pointer, [word(2 * (i - 1) + part)]))
            factor.append(spread(builder, number, vector))
        sums[i] = multiply_complex(builder, factor, sums[i])
    goal = builder.inttoptr(place, scalar.as_pointer())
    for i, parts in enumerate(sums):
        for offset, value in zip(offsets, parts, strict=True):
            at = builder.add(builder.mul(gap, word(i)), offset)
            builder.store(value, vector_place(builder, goal, at, vector), align=SIZE)
    return context.get_dummy_value()


def step_of_two(context, place):
    """Two neighbouring elements become their sum and their difference."""

    def emit(context, builder, signature, args):
        scalar = context.get_data_type(from_dtype(np.dtype(T)))
        word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
        goal = builder.inttoptr(args[0], scalar.as_pointer())
        for part in range(2):
            places = word(part * LANES), word((part + 2) * LANES)
            a, b = (load(builder, args[0], at, vector) for at in places)
            for at, value in zip(places, (builder.fadd(a, b), builder.fsub(a, b)), strict=True):
                builder.store(value, vector_place(builder, goal, at, vector), align=SIZE)
        return context.get_dummy_value()

    return types.void(types.int64), emit


def scale_line(context, target, source, scale):
    """Both parts of an element, times scale."""

    def emit(context, builder, signature, args):
        scalar = context.get_data_type(from_dtype(np.dtype(T)))
        word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
        goal = builder.inttoptr(args[0], scalar.as_pointer())
        factor = spread(builder, args[2], vector)
        for part in range(2):
            at = word(part * LANES)
            value = builder.fmul(load(builder, args[1], at, vector), factor)
            builder.store(value, vector_place(builder, goal, at, vector), align=SIZE)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, from_dtype(np.dtype(T))), emit


def split_half(context, front, back, z, opposite, factor, scale):
    """From elements k and -k of the transform of x[2j] + i x[2j + 1], elements k and k + size of x.

    factor: the address of w^k. scale: with the half of both sums.
    """
    return types.void(*[types.int64] * 5, from_dtype(np.dtype(T))), build_split


def build_split(context, builder, signature, args):
    """even = (z + conj(opposite)) / 2, odd = (z - conj(opposite)) / 2i; even +- w^k odd."""
    front, back, z, opposite, factor, scale = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    places = word(0), word(LANES)
    pointer = builder.inttoptr(factor, scalar.as_pointer())
    root = [spread(builder, builder.load(builder.gep(pointer, [word(i)])), vector) for i in (0, 1)]
    half = spread(builder, scale, vector)
    zr, zi = (load(builder, z, at, vector) for at in places)
    yr, yi = (load(builder, opposite, at, vector) for at in places)
    even = builder.fadd(zr, yr), builder.fsub(zi, yi)
    odd = multiply_complex(builder, root, (builder.fadd(zi, yi), builder.fsub(yr, zr)))
    for target, join in ((front, builder.fadd), (back, builder.fsub)):
        goal = builder.inttoptr(target, scalar.as_pointer())
        for at, a, b in zip(places, even, odd, strict=True):
            value = builder.fmul(join(a, b), half)
            builder.store(value, vector_place(builder, goal, at, vector), align=SIZE)
    return context.get_dummy_value()


def exchange_parts(context, target, source, is_back):
    """Pairs (real, imaginary) of LANES numbers become two lines; is_back: the other way round."""

    def emit(context, builder, signature, args):
        scalar = context.get_data_type(from_dtype(np.dtype(T)))
        word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
        a, b = (load(builder, args[1], word(at), vector) for at in (0, LANES))
        kind = ir.VectorType(ir.IntType(32), LANES)
        goal = builder.inttoptr(args[0], scalar.as_pointer())
        for part in range(2):
            apart = [2 * i + part for i in range(LANES)]
            together = [part * LANES // 2 + i // 2 + i % 2 * LANES for i in range(LANES)]
            lines = [builder.shuffle_vector(a, b, ir.Constant(kind, p)) for p in (together, apart)]
            value = builder.select(args[2], *lines)
            at = vector_place(builder, goal, word(part * LANES), vector)
            builder.store(value, at, align=SIZE)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.boolean), emit
