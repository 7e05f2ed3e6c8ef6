"""Convolutions with few results per place and stride 1: vectors of places, rows of results.

In framed images all places of a result lie `taps` away from one flat range, junk between the lines
included. So a tile of sums is results times neighbouring places: elements are loaded as they lie,
weights in all lanes. `implicit.py`, whose vectors hold the results of one place, would
leave most lanes empty.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, scratch, threads
from torchgen_out._runtime.kernels.cpu.conv.implicit_loops import frame_planes
from torchgen_out._runtime.kernels.cpu.conv.launches import Run, Sizes
from torchgen_out._runtime.kernels.cpu.conv.windows import see
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile

Array = Any
BLOCK = 2048  # places that are computed before they are delivered
PRODUCTS_PER_ELEMENT = 8  # products that take as long as an element of element-wise work
MANY = 8  # groups of images that are enough for the threads, which share no image
SHALLOW = 100  # products per result up to which most of the time goes into writing results
PAGE = 4096  # bytes: what lies a multiple of it apart meets in the same lines of the first cache
NUMBERS = np.dtype(np.int64)


@cache
def tile(dtype: Any, outputs: int) -> Tile:
    """The tile of sums for some results per place and group: results by places."""
    nbytes, count = register_tile.registers()
    rows = min(8 if count == 32 else 4, 1 << (outputs - 1).bit_length())
    return Tile(rows, 4 if rows < 4 else 2, nbytes // np.dtype(dtype).itemsize)


def suits(y: Array, x: Array, w: Array, sliding: Any, groups: int) -> bool:
    """Whether the stride is 1, an image has the places of a tile, and its rows are filled."""
    if sliding[0] != (1, 1, 1):
        return False
    _, window = see(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    return bool(window.places[-1] + 1 >= tile(y.dtype, w.shape[0] // groups).width)


def outdoes_implicit(y: Array, w: Array, groups: int) -> bool:
    """Whether this takes less time than `implicit.py`, where both suit.

    So it is where the others' vectors, two for each place, are filled to three quarters at most
    (0.5 to 0.85 of the time), and where they write planes whose places meet in one line of the
    cache (0.5 to 0.9).
    """
    size, outputs = np.dtype(y.dtype).itemsize, w.shape[0] // groups
    width = 2 * register_tile.registers()[0] // size
    is_half_empty = 4 * outputs <= 3 * width * -(-outputs // width)
    is_crowded = prod(y.shape[2:]) * size % PAGE == 0 and prod(w.shape[1:]) <= SHALLOW
    return y.shape[0] * groups >= MANY and (is_half_empty or is_crowded)


class Plan(NamedTuple):
    """What follows from sizes: the tile's rows; where taps of all channels lie; where the lines of
    results begin; what the loops read; and elements of a framed group, none if it needs no frame.
    """

    rows: int
    steps: Array
    starts: Array
    numbers: Array
    room: int


@lru_cache(maxsize=1024)
def _plan(sizes: Any, kernel: Any, results: Any, sliding: Any, groups: int, dtype: Any) -> Plan:
    """The plan for images of `sizes`, weights of `kernel`, and results of (O, OD, OH, OW)."""
    frame, window = see(sizes, kernel[2:], results[1:], *sliding)
    outputs, channels = results[0] // groups, kernel[1]
    rows = tile(dtype, outputs).rows
    high = -(-outputs // rows) * rows
    steps = np.add.outer(np.arange(channels) * frame.numel, window.taps).reshape(-1)
    lines, length = window.places.size // results[3], results[3]
    room = 0 if frame.is_bare else channels * frame.numel
    numbers = groups, outputs, high, channels, frame.numel, room, int(window.places[-1]) + 1
    framing = *sizes, *frame.sizes, *frame.before
    numbers = np.array([*numbers, length, lines, *framing], NUMBERS)
    return Plan(rows, steps, np.ascontiguousarray(window.places[::length]), numbers, room)


@lru_cache(maxsize=1024)
def launch(
    y: Sizes, x: Sizes, w: Sizes, dtype: Any, has_bias: bool, sliding: Any, groups: int
) -> Run:
    """y = w * x + bias, for these sizes."""
    plan = _plan(x[2:], w, y[1:], sliding, groups, dtype)
    outputs, taps = y[1] // groups, prod(w[1:])
    high = -(-outputs // plan.rows) * plan.rows
    work, units = prod(y) * plan.steps.size // PRODUCTS_PER_ELEMENT, x[0] * groups
    entry, tables, nothing = _entry(dtype, plan.rows), plan[1:4], np.zeros(y[1], dtype)
    elements, weights, room = prod(x), prod(w), plan.room
    is_short = work < 2 * threads.GRAIN

    def run(y: Array, x: Array, w: Array, *rest: Any) -> None:
        if has_bias:
            given, at_x, at_w, at, _ = rest
            added = _part(given, at, nothing.size)
        else:
            (at_x, at_w, _), added = rest, nothing
        x, w = _part(x, at_x, elements), _part(w, at_w, weights)
        if high != outputs:
            wide = np.zeros((groups, high, taps), dtype)
            wide[:, :outputs] = w.reshape(groups, outputs, taps)
            w = wide.reshape(-1)
        parts = 1 if is_short else threads.part_count(units, work)
        planes = scratch.take("planes", (parts * room,), dtype) if room else x
        if parts == 1:
            entry(0, 0, units, y, x, planes, w, added, *tables)
        else:
            arrays = y, x, planes, w, added, *tables
            threads.run_ranges(entry, units, work, *arrays, parts=parts)

    return run


def _part(flat: Array, at: int, count: int) -> Array:
    return flat if flat.size == count else flat[at : at + count]


@cache
def _entry(dtype: Any, rows: int) -> Any:
    """The compiled kernel for one element type and tiles of some rows."""
    parts = [
        build.HEADER.format(title=f"Flat convolution: {dtype.name}."),
        register_tile.tile_text(dtype, tile(dtype, rows)),
        f"BLOCK, SIZE = {BLOCK}, {np.dtype(dtype).itemsize}\n",
        build.plain_source(build_sliding),
        *("@intrinsic\n" + build.plain_source(f) for f in (sliding_product, add_vector)),
        *("@inner\n" + build.plain_source(function) for function in (frame_planes, deliver)),
        "@entry\n" + build.plain_source(convolve_flat) + "\nkernel = convolve_flat\n",
    ]
    arguments = (int, int, int, *[dtype] * 5, *[NUMBERS] * 3)
    return build.entry_point(f"flat_convolution_{dtype.name}", "\n\n".join(parts), arguments)


# Compiled. Addresses are int64, distances in elements.


def sliding_product(context, out, gap, weights, row, x, steps, count):
    """out[r * gap + n] = the sum over k < count of weights[r * row + k] * x[steps[k] + n]."""
    return types.void(*[types.int64] * 7), build_sliding


def build_sliding(context, builder, signature, args):
    """Go through the steps with sums in registers."""
    out, gap, weights, row, x, steps, count = args
    scalar = context.get_data_type(from_dtype(np.dtype(T)))
    word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
    out, weights, x = (builder.inttoptr(each, scalar.as_pointer()) for each in (out, weights, x))
    steps = builder.inttoptr(steps, word.as_pointer())
    begins = [builder.gep(weights, [builder.mul(row, word(r))]) for r in range(ROWS)]
    entry, body = builder.block, builder.append_basic_block("step")
    after = builder.append_basic_block("done")
    builder.branch(body)
    builder.position_at_end(body)
    k = builder.phi(word)
    sums = [builder.phi(vector) for _ in range(ROWS * VECTORS)]
    start = builder.load(builder.gep(steps, [k]))
    factors = [
        builder.load(
            vector_place(builder, x, builder.add(start, word(v * LANES)), vector), align=SIZE
        )
        for v in range(VECTORS)
    ]
    new = accumulate(builder, [builder.gep(begin, [k]) for begin in begins], factors, sums)
    following, zero = builder.add(k, word(1)), ir.Constant(vector, [0.0] * LANES)
    initial, later = (word(0), *[zero] * len(sums)), (following, *new)
    for phi, first, value in zip((k, *sums), initial, later, strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(value, body)
    builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    builder.position_at_end(after)
    for i, value in enumerate(new):
        r, v = divmod(i, VECTORS)
        at = builder.add(builder.mul(gap, word(r)), word(v * LANES))
        builder.store(value, vector_place(builder, out, at, vector), align=SIZE)
    return context.get_dummy_value()


def add_vector(context, target, source, number):
    """target[n] = source[n] + number for n < LANES."""

    def emit(context, builder, signature, args):
        scalar = context.get_data_type(from_dtype(np.dtype(T)))
        word, vector = ir.IntType(64), ir.VectorType(scalar, LANES)
        target, source = (builder.inttoptr(each, scalar.as_pointer()) for each in args[:2])
        nothing = ir.Constant(vector, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        number = builder.insert_element(nothing, args[2], ir.Constant(ir.IntType(32), 0))
        number = builder.shuffle_vector(number, nothing, everywhere)
        value = builder.load(vector_place(builder, source, word(0), vector), align=SIZE)
        place = vector_place(builder, target, word(0), vector)
        builder.store(builder.fadd(value, number), place, align=SIZE)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, from_dtype(np.dtype(T))), emit


def deliver(y, sums, begin, end, starts, length, bias):
    """y[line * length + i] = sums[place - begin] + bias for the places from begin to end.

    A line that is there as a whole is written in vectors, beyond its end where the next line will
    be written.
    """
    for line in range(starts.size):
        first, last = max(starts[line], begin), min(starts[line] + length, end)
        target = y + (line * length + first - starts[line]) * SIZE
        source, i = sums + (first - begin) * SIZE, 0
        whole = last - first == length and (line + 1) * length + LANES <= starts.size * length
        while i + LANES <= last - first or (whole and i < length):
            add_vector(target + i * SIZE, source + i * SIZE, bias)
            i += LANES
        while i < last - first:
            put(target, i, element(source, i) + bias)
            i += 1


def convolve_flat(part, first, last, y, x, planes, weights, bias, steps, starts, plan):
    """y = w * x + bias for the groups of images from first to last, numbered through.

    Each is framed in the part's own piece of `planes`, if it needs a frame.
    """
    groups, outputs, high, channels, numel, room, span, length, lines = plan[:9]
    depth, gap = steps.size, BLOCK + 2 * WIDTH
    seen, group_numel = planes[part * room : (part + 1) * room], np.int64(0)
    if not room:
        seen, group_numel = x, channels * numel
    sums = np.empty(ROWS * gap, x.dtype)
    to, source = np.int64(sums.ctypes.data), np.int64(seen.ctypes.data)
    goal = np.int64(y.ctypes.data)
    table, at_steps = np.int64(weights.ctypes.data), np.int64(steps.ctypes.data)
    for unit in range(first, last):
        group = unit % groups
        if room:
            frame_planes(seen, x, unit * channels, channels, numel, plan[9:], unit == first)
        for begin in range(0, span, BLOCK):
            end = min(begin + BLOCK, span)
            for o in range(0, outputs, ROWS):
                own = table + (group * high + o) * depth * SIZE
                for p in range(begin, end, WIDTH):
                    place = min(p, span - WIDTH)
                    target = to + (place - begin + WIDTH) * SIZE
                    elements = source + (unit * group_numel + place) * SIZE
                    sliding_product(target, gap, own, depth, elements, at_steps, depth)
                for r in range(min(ROWS, outputs - o)):
                    channel = unit * outputs + o + r
                    added = bias[group * outputs + o + r]
                    results = goal + channel * lines * length * SIZE
                    own_sums = to + (r * gap + WIDTH) * SIZE
                    deliver(results, own_sums, begin, end, starts, length, added)
    return sums[0]  # not to be freed before
