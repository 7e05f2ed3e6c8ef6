"""The steps of Fourier transforms in the lanes of vectors, instruction by instruction.

An element is two lines of LANES numbers, the real parts and the imaginary ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile


def steps_text(dtype: Any, lanes: int, group: int) -> str:
    """The part of a kernel's text that defines the steps for one element type.

    group: how many rows share the lanes, COLUMNS of each.
    """
    constants = {
        "LANES": lanes,
        "GROUP": group,
        "COLUMNS": lanes // group,
        "CONTRACT": register_tile.CONTRACT,
        "SIZE": np.dtype(dtype).itemsize,
    }
    plain = (
        *(register_tile.data_of, register_tile.vector_place, vector_of, load, store, spread),
        *(multiply_complex, combine, split_pairs, join_pairs),
        *(places_of_group, load_group, store_group, build_four, build_odd, turn_and_store),
    )
    intrinsics = (
        *(register_tile.stay_apart, register_tile.element, register_tile.put),
        *(step_of_four, plain_step_of_four, step_of_two, step_of_three, step_of_five),
        *(step_of_seven, turn_line, transpose_lines),
        *(take_line, deliver_line, take_group, deliver_group, join_group, split_group, mirror_line),
    )
    parts = [
        register_tile.IMPORTS,
        f"T = np.{np.dtype(dtype).name}",
        *(f"{name} = {value}" for name, value in constants.items()),
        *(build.plain_source(function) for function in plain),
        *("@intrinsic\n" + build.plain_source(function) for function in intrinsics),
    ]
    return "\n\n".join(parts)


# What follows is compiled as part of kernels' texts. Addresses are int64.


def vector_of(context, lanes):
    """The type of a vector of so many numbers."""
    return ir.VectorType(context.get_data_type(from_dtype(np.dtype(T))), lanes)


def load(builder, address, offset, vector):
    """The vector at some elements from an address."""
    pointer = builder.inttoptr(address, vector.element.as_pointer())
    return builder.load(vector_place(builder, pointer, offset, vector), align=SIZE)


def store(builder, value, address, offset):
    """Write a vector at some elements from an address."""
    pointer = builder.inttoptr(address, value.type.element.as_pointer())
    builder.store(value, vector_place(builder, pointer, offset, value.type), align=SIZE)


def spread(builder, number, vector):
    """A vector of one number."""
    nothing = ir.Constant(vector, ir.Undefined)
    count = vector.count
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    single = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, nothing, everywhere)


def multiply_complex(builder, factor, value):
    """The parts of a product of two complex numbers given by their parts."""
    (a, b), (x, y) = factor, value
    real = builder.fsub(builder.fmul(a, x), builder.fmul(b, y, flags=CONTRACT), flags=CONTRACT)
    other = builder.fadd(builder.fmul(a, y), builder.fmul(b, x, flags=CONTRACT), flags=CONTRACT)
    return real, other


def combine(builder, value, opposite, factors):
    """s and t of s = value + conj(opposite), t = factors (value - conj(opposite)), by parts."""
    (ar, ai), (br, bi) = value, opposite
    difference = builder.fsub(ar, br), builder.fadd(ai, bi)
    together = builder.fadd(ar, br), builder.fsub(ai, bi)
    return together, multiply_complex(builder, factors, difference)


def split_pairs(builder, pieces, is_back):
    """Real and imaginary parts of pairs in some vectors; is_back: each of them backwards."""
    word, run, count = ir.IntType(32), pieces[0].type.count // 2, len(pieces)
    while len(pieces) > 1:
        size = 2 * pieces[0].type.count
        whole = ir.Constant(ir.VectorType(word, size), list(range(size)))
        pieces = [
            builder.shuffle_vector(*pieces[i : i + 2], whole) for i in range(0, len(pieces), 2)
        ]
    order = range(run - 1, -1, -1) if is_back else range(run)
    nothing, kind = ir.Constant(pieces[0].type, ir.Undefined), ir.VectorType(word, run * count)
    parts = []
    for part in range(2):
        places = [2 * (piece * run + i) + part for piece in range(count) for i in order]
        parts.append(builder.shuffle_vector(pieces[0], nothing, ir.Constant(kind, places)))
    return parts


def join_pairs(builder, parts, pieces, is_back):
    """Pairs of real and imaginary parts, in some vectors one after the other."""
    count = parts[0].type.count
    order = range(count - 1, -1, -1) if is_back else range(count)
    places = [i + part * count for i in order for part in range(2)]
    size = 2 * count // pieces
    kind = ir.VectorType(ir.IntType(32), size)
    return [
        builder.shuffle_vector(*parts, ir.Constant(kind, places[at : at + size]))
        for at in range(0, 2 * count, size)
    ]


def places_of_group(builder, place, step, count):
    """The addresses of GROUP rows, `step` bytes apart, of which only `count` are there.

    The last one stands for those that are missing: the same is written there again.
    """
    word = ir.IntType(64)
    last = builder.sub(count, word(1))
    places = [place]
    for i in range(1, GROUP):
        row = builder.select(builder.icmp_signed("<", word(i), count), word(i), last)
        places.append(builder.add(place, builder.mul(row, step)))
    return places


def load_group(context, builder, place, step, count, is_back):
    """The parts of COLUMNS pairs of each row of a group."""
    word, vector = ir.IntType(64), vector_of(context, 2 * COLUMNS)
    places = places_of_group(builder, place, step, count)
    return split_pairs(builder, [load(builder, each, word(0), vector) for each in places], is_back)


def store_group(context, builder, parts, place, step, count, scale):
    """Write COLUMNS pairs, times scale, to each row of a group."""
    factor = spread(builder, scale, parts[0].type)
    parts = [builder.fmul(part, factor) for part in parts]
    places = places_of_group(builder, place, step, count)
    for each, pairs in zip(places, join_pairs(builder, parts, GROUP, False), strict=True):
        store(builder, pairs, each, ir.IntType(64)(0))


def step_of_four(context, place, gap, factors, real):
    """Four elements `gap` apart become their transform, turned by three factors.

    real: 0, or LANES for a transform with the opposite sign, which exchanges the parts.
    """

    def emit(context, builder, signature, args):
        build_four(context, builder, args[0], args[1], args[3], args[2])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def plain_step_of_four(context, place, gap, real):
    """The same where all factors are 1."""

    def emit(context, builder, signature, args):
        build_four(context, builder, *args, None)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), emit


def build_four(context, builder, place, gap, real, factors):
    """The sums and differences, then the products with the factors."""
    word, vector = ir.IntType(64), vector_of(context, LANES)
    offsets = real, builder.sub(word(LANES), real)
    places = []
    for i in range(4):
        start = builder.mul(gap, word(i))
        places.append([builder.add(start, offset) for offset in offsets])
    values = [[load(builder, place, at, vector) for at in each] for each in places]
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
    turn_and_store(builder, sums, place, places, factors, vector)


def turn_and_store(builder, sums, place, places, factors, vector):
    """Write elements, all but the first times a factor, if there are factors."""
    for i in range(1, len(sums) if factors else 0):
        pointer, factor = builder.inttoptr(factors, vector.element.as_pointer()), []
        for part in range(2):
            at = ir.IntType(64)(2 * (i - 1) + part)
            factor.append(spread(builder, builder.load(builder.gep(pointer, [at])), vector))
        sums[i] = multiply_complex(builder, factor, sums[i])
    for own, parts in zip(places, sums, strict=True):
        for at, value in zip(own, parts, strict=True):
            store(builder, value, place, at)


def step_of_three(context, place, gap, factors, real):
    """Three elements `gap` apart, as in `step_of_four`."""

    def emit(context, builder, signature, args):
        build_odd(context, builder, 3, *args)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def step_of_five(context, place, gap, factors, real):
    """Five elements `gap` apart, as in `step_of_four`."""

    def emit(context, builder, signature, args):
        build_odd(context, builder, 5, *args)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def step_of_seven(context, place, gap, factors, real):
    """Seven elements `gap` apart, as in `step_of_four`."""

    def emit(context, builder, signature, args):
        build_odd(context, builder, 7, *args)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def build_odd(context, builder, radix, place, gap, factors, real):
    """X[k] = c - i s, X[-k] = c + i s of c = x[0] + sums of cosines times x[j] + x[-j], and of s.

    s: the sums of sines times x[j] - x[-j].
    """
    word, vector = ir.IntType(64), vector_of(context, LANES)
    offsets, half = (real, builder.sub(word(LANES), real)), radix // 2 + 1
    places = []
    for i in range(radix):
        start = builder.mul(gap, word(i))
        places.append([builder.add(start, offset) for offset in offsets])
    values = [[load(builder, place, at, vector) for at in each] for each in places]
    together, apart = {}, {}
    for j in range(1, half):
        pairs = list(zip(values[j], values[radix - j], strict=True))
        together[j] = [builder.fadd(*pair) for pair in pairs]
        apart[j] = [builder.fsub(*pair) for pair in pairs]
    sums = [values[0]] * radix
    for j in range(1, half):
        sums[0] = [builder.fadd(*pair) for pair in zip(sums[0], together[j], strict=True)]
    for k in range(1, half):
        cosines, sines = list(values[0]), [ir.Constant(vector, [0.0] * LANES)] * 2
        for j in range(1, half):
            angle = 2 * math.pi * (j * k % radix) / radix
            for part in range(2):
                for number, found, given in (
                    (math.cos(angle), cosines, together[j][part]),
                    (math.sin(angle), sines, apart[j][part]),
                ):
                    product = builder.fmul(
                        ir.Constant(vector, [number] * LANES), given, flags=CONTRACT
                    )
                    found[part] = builder.fadd(product, found[part], flags=CONTRACT)
        sums[k] = builder.fadd(cosines[0], sines[1]), builder.fsub(cosines[1], sines[0])
        sums[radix - k] = builder.fsub(cosines[0], sines[1]), builder.fadd(cosines[1], sines[0])
    turn_and_store(builder, sums, place, places, factors, vector)


def step_of_two(context, place):
    """Two neighbouring elements become their sum and their difference."""

    def emit(context, builder, signature, args):
        word, vector = ir.IntType(64), vector_of(context, LANES)
        for part in range(2):
            places = word(part * LANES), word((part + 2) * LANES)
            a, b = (load(builder, args[0], at, vector) for at in places)
            store(builder, builder.fadd(a, b), args[0], places[0])
            store(builder, builder.fsub(a, b), args[0], places[1])
        return context.get_dummy_value()

    return types.void(types.int64), emit


def take_line(context, target, source):
    """LANES pairs (real, imaginary) become an element's two lines."""

    def emit(context, builder, signature, args):
        word = ir.IntType(64)
        pairs = load(builder, args[1], word(0), vector_of(context, 2 * LANES))
        for i, value in enumerate(split_pairs(builder, [pairs], False)):
            store(builder, value, args[0], word(i * LANES))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def take_group(context, target, source, step, count):
    """COLUMNS pairs of each of `count` rows, `step` bytes apart, become an element's two lines."""

    def emit(context, builder, signature, args):
        for i, value in enumerate(load_group(context, builder, *args[1:], False)):
            store(builder, value, args[0], ir.IntType(64)(i * LANES))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def deliver_line(context, target, source, scale):
    """Both lines of an element, times scale, become pairs."""

    def emit(context, builder, signature, args):
        word, vector = ir.IntType(64), vector_of(context, LANES)
        factor = spread(builder, args[2], vector)
        parts = [load(builder, args[1], word(at), vector) for at in (0, LANES)]
        parts = [builder.fmul(part, factor) for part in parts]
        store(builder, join_pairs(builder, parts, 1, False)[0], args[0], word(0))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, from_dtype(np.dtype(T))), emit


def deliver_group(context, target, step, count, source, scale):
    """The same to each of `count` rows, `step` bytes apart."""

    def emit(context, builder, signature, args):
        target, step, count, source, scale = args
        word, vector = ir.IntType(64), vector_of(context, LANES)
        parts = [load(builder, source, word(at), vector) for at in (0, LANES)]
        store_group(context, builder, parts, target, step, count, scale)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4, from_dtype(np.dtype(T))), emit


def join_group(context, target, front, back, step, count, factors):
    """s + t of `combine` for pairs at `front` and those that end at `back`, COLUMNS of each row."""

    def emit(context, builder, signature, args):
        target, front, back, step, count, factors = args
        word, vector = ir.IntType(64), vector_of(context, LANES)
        factor = [load(builder, factors, word(at), vector) for at in (0, LANES)]
        value = load_group(context, builder, front, step, count, False)
        opposite = load_group(context, builder, back, step, count, True)
        for i, parts in enumerate(zip(*combine(builder, value, opposite, factor), strict=True)):
            store(builder, builder.fadd(*parts), target, word(i * LANES))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), emit


def split_group(context, target, behind, step, count, lines, opposite, first, factors, scale):
    """s + t of `combine` for an element's lines to `target`; s - t to `behind`, unless that is 0.

    opposite: the lines of its opposites, which go backwards, but that of each row's first column,
    which stands there in what begins at `first`.
    """

    def emit(context, builder, signature, args):
        target, behind, step, count, lines, opposite, first, factors, scale = args
        word, vector = ir.IntType(64), vector_of(context, LANES)
        own, back, begin, factor = (
            [load(builder, each, word(at), vector) for at in (0, LANES)]
            for each in (lines, opposite, first, factors)
        )
        places = [
            row + (COLUMNS - c if c else LANES)
            for row in range(0, LANES, COLUMNS)
            for c in range(COLUMNS)
        ]
        kind = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
        back = [builder.shuffle_vector(*parts, kind) for parts in zip(back, begin, strict=True)]
        sums = list(zip(*combine(builder, own, back, factor), strict=True))
        ahead = [builder.fadd(*parts) for parts in sums]
        store_group(context, builder, ahead, target, step, count, scale)
        with builder.if_then(builder.icmp_signed("!=", behind, word(0))):
            ahead = [builder.fsub(*parts) for parts in sums]
            store_group(context, builder, ahead, behind, step, count, scale)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 8, from_dtype(np.dtype(T))), emit


def transpose_lines(context, target, source):
    """COLUMNS elements become the columns of each row's part of their lines."""

    def emit(context, builder, signature, args):
        vector, kind = vector_of(context, LANES), ir.VectorType(ir.IntType(32), LANES)
        for part in range(2):
            places = [ir.IntType(64)((2 * i + part) * LANES) for i in range(COLUMNS)]
            lines = [load(builder, args[1], each, vector) for each in places]
            half = COLUMNS // 2
            while half:
                low = [n + LANES - half if n & half else n for n in range(LANES)]
                high = [n + LANES if n & half else n + half for n in range(LANES)]
                for i in range(COLUMNS):
                    if not i & half:
                        pair = lines[i], lines[i + half]
                        lines[i] = builder.shuffle_vector(*pair, ir.Constant(kind, low))
                        lines[i + half] = builder.shuffle_vector(*pair, ir.Constant(kind, high))
                half //= 2
            for at, line in zip(places, lines, strict=True):
                store(builder, line, args[0], at)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def turn_line(context, target, source, factors, real):
    """An element's lines, each lane times a factor of its own; real: as in `step_of_four`."""

    def emit(context, builder, signature, args):
        target, source, factors, real = args
        word, vector = ir.IntType(64), vector_of(context, LANES)
        offsets = real, builder.sub(word(LANES), real)
        value = [load(builder, source, at, vector) for at in offsets]
        factor = [load(builder, factors, word(at), vector) for at in (0, LANES)]
        for at, part in zip(offsets, multiply_complex(builder, factor, value), strict=True):
            store(builder, part, target, at)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


def mirror_line(context, target, source):
    """The conjugates of COLUMNS pairs, backwards."""

    def emit(context, builder, signature, args):
        word = ir.IntType(64)
        pairs = load(builder, args[1], word(0), vector_of(context, 2 * COLUMNS))
        real, imaginary = split_pairs(builder, [pairs], False)
        parts = real, builder.fneg(imaginary)
        store(builder, join_pairs(builder, parts, 1, True)[0], args[0], word(0))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit
