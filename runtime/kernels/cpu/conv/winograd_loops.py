"""The compiled side of Winograd's convolutions: strips of images, tiles, and what they become.

`plan` holds the numbers of `winograd.Plan`. Strips lie with their channels side by side, so that
every transform is of whole vectors of channels, whatever the width and the dilation of the image.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile

INPUT = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
WEIGHT = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
OUTPUT = ((1, 1, 1, 0), (0, 1, -1, -1))
TRANSFORMS = {
    "transform_input": INPUT,
    "transform_weight": WEIGHT,
    "transform_output": OUTPUT,
    "transform_grad": tuple(zip(*OUTPUT, strict=True)),
    "transform_sums": tuple(zip(*WEIGHT, strict=True)),
}
"""Each matrix M gives M x M^T of a square x; the last two are the first two's transposes."""
DEPTH = 192  # steps of a panel that are in the first cache meanwhile


def build_transform(matrix, context, builder, signature, args):
    """Rows first, then columns: sums and differences of whole vectors."""
    out, x = (data_of(context, builder, signature, args, i) for i in (0, 4))
    at, out_row, out_column, origin, row, column = (args[i] for i in (1, 2, 3, 5, 6, 7))
    word, size, count = ir.IntType(64), T(0).itemsize, range(len(matrix[0]))
    vector = ir.VectorType(context.get_data_type(signature.args[4].dtype), LANES)

    def place(pointer, start, i, step, j, gap):
        index = builder.add(
            builder.add(start, builder.mul(step, word(i))), builder.mul(gap, word(j))
        )
        return vector_place(builder, pointer, index, vector)

    given = [
        [builder.load(place(x, origin, i, row, j, column), align=size) for j in count]
        for i in count
    ]
    columns = [
        [combined(builder, line, [given[i][j] for i in count]) for j in count] for line in matrix
    ]
    for i, line in enumerate(columns):
        for j, weights in enumerate(matrix):
            value = combined(builder, weights, line)
            builder.store(value, place(out, at, i, out_row, j, out_column), align=size)
    return context.get_dummy_value()


def combined(builder, weights, vectors):
    """The sum of weights times vectors: those of one size are added before they are multiplied."""
    total = None
    for size in sorted({abs(weight) for weight in weights} - {0}):
        part = None
        for weight, value in zip(weights, vectors, strict=True):
            if abs(weight) == size and part is not None:
                part = builder.fadd(part, value) if weight > 0 else builder.fsub(part, value)
            elif abs(weight) == size:
                part = value if weight > 0 else builder.fneg(value)
        if size != 1:
            part = builder.fmul(part, ir.Constant(part.type, [size] * LANES))
        total = part if total is None else builder.fadd(total, part)
    return total


def offsets(count, known, step):
    """Where lines `step` apart begin, of which some are known; the last of these again beyond."""
    made = np.empty(count, np.int64)
    for i in range(count):
        made[i] = min(i, known - 1) * step
    return made


def strip_row(strip, s, x, n, u, plan):
    """strip[s, v, c] = x[n, c, u - padding, v - padding], zero outside of the image."""
    _, _, channels, held, height, width, pad_h, pad_w, _, columns = plan[:10]
    h, at, seen = u - pad_h, (s * columns + pad_w) * held, min(width, columns - pad_w)
    if 0 <= h < height:
        start = (n * channels * height + h) * width
        transpose(strip, at, held, x, start, height * width, seen, channels)
    else:
        strip[at : at + seen * held] = 0


def transform_tiles(v, strip, x, first, last, apart, plan):
    """v[e, t, c]: the transforms of the tiles of the tile rows from first to last."""
    _, _, _, held, _, _, _, _, _, columns, spread_h, spread_w, down, across = plan[:14]
    s, t = 0, 0
    for unit in range(first, last):
        image, line = divmod(unit, spread_h * down)
        phase, ty = divmod(line, down)
        fresh = 4 if unit == first or ty == 0 else 2
        for i in range(4 - fresh, 4):
            strip_row(strip, s, x, image, phase + spread_h * (2 * ty + i), plan)
            s += 1
        for shift in range(spread_w):
            for tx in range(across):
                origin = ((s - 4) * columns + shift + spread_w * 2 * tx) * held
                for c in range(0, held, LANES):
                    transform_input(
                        *(v, t * held + c, 4 * apart, apart),
                        *(strip, origin + c, columns * held, spread_w * held),
                    )
                t += 1
    return t


def multiply(first, last, y, x, panels, bias, plan):
    """The results of the blocks of tile rows from first to last; False if one is not finite."""
    block, tiles, channels, held, _, _, _, _, _, columns, _, spread_w = plan[:12]
    across, units, groups, outputs = plan[13:17]
    lines, depth = block // (spread_w * across), channels // groups
    apart, gap_e, wide = tiles * held + LANES, tiles * WIDTH + LANES, 2 * spread_w * across
    strip = np.zeros(4 * lines * columns * held, x.dtype)
    v = np.zeros(16 * apart, x.dtype)
    sums = np.zeros(16 * gap_e + 2 * WIDTH, x.dtype)  # the last rows: zeros, and the bias
    result = np.empty(2 * lines * wide * WIDTH, x.dtype)
    rows, steps = offsets(tiles, tiles, held), offsets(depth, depth, 1)
    nothing = 16 * gap_e
    is_finite = True
    for unit in range(first * lines, min(last * lines, units), lines):
        stop = min(unit + lines, units)
        count = transform_tiles(v, strip, x, unit, stop, apart, plan)
        for g in range(groups):
            for o in range(0, outputs, WIDTH):
                panel = g * ((outputs + WIDTH - 1) // WIDTH) + o // WIDTH
                for j in range(WIDTH):
                    sums[nothing + WIDTH + j] = bias[panel * WIDTH + j]
                for e in range(16):
                    initial = nothing + WIDTH if e == 5 else nothing
                    for k in range(0, depth, DEPTH):
                        place = ((panel * 16 + e) * depth + k) * WIDTH
                        end, gap = min(k + DEPTH, depth), WIDTH if k else 0
                        for r in range(0, count, ROWS):
                            at = e * gap_e + r * WIDTH
                            old = at if k else initial
                            multiply_tile(
                                *(sums, at, old, gap, v, e * apart + g * depth),
                                *(rows, r, steps, k, end, panels, place),
                            )
                spread_results(result, sums, stop - unit, gap_e, plan)
                channel, here = g * outputs + o, min(WIDTH, outputs - o)
                is_finite &= are_finite(result, 0, (stop - unit) * wide * 2 * WIDTH)
                deliver(y, result, unit, stop, groups * outputs, channel, here, plan)
    return is_finite


def are_finite(x, first, last):
    """Whether the elements from first to last are no infinities or NaN."""
    bits, is_outside = x.view(BITS), False
    for i in range(first, last):
        is_outside |= bits[i] & EXPONENT == EXPONENT
    return not is_outside


def spread_results(result, sums, lines, apart, plan):
    """result[line, i, x, n]: what the sums of the tiles of some tile rows become."""
    spread_w, across = plan[11], plan[13]
    wide, t = 2 * spread_w * across, 0
    for line in range(lines):
        for shift in range(spread_w):
            for tx in range(across):
                at = (line * 2 * wide + shift + spread_w * 2 * tx) * WIDTH
                for j in range(0, WIDTH, LANES):
                    transform_output(
                        *(result, at + j, wide * WIDTH, spread_w * WIDTH),
                        *(sums, t * WIDTH + j, 4 * apart, apart),
                    )
                t += 1


def deliver(y, result, first, last, channels, channel, here, plan):
    """y[image, channel + n] = the lines of results of some tile rows, for n < here."""
    _, spread_h, spread_w, down, across = plan[9:14]
    height, width = plan[17:19]
    wide = 2 * spread_w * across
    for unit in range(first, last):
        image, line = divmod(unit, spread_h * down)
        phase, ty = divmod(line, down)
        for i in range(2):
            h = phase + spread_h * (2 * ty + i)
            if h < height:
                at = ((image * channels + channel) * height + h) * width
                start = ((unit - first) * 2 + i) * wide * WIDTH
                transpose(y, at, height * width, result, start, WIDTH, here, width)


def correlate(part, first, last, sums, y, x, plan):
    """sums[part, g, p, e, c, n] += the products of tiles, for blocks from first to last."""
    block, tiles, channels, held, _, _, _, _, _, columns, _, spread_w = plan[:12]
    across, units, groups, outputs = plan[13:17]
    lines, depth = block // (spread_w * across), channels // groups
    apart, gap_e, panels = (
        tiles * held + LANES,
        tiles * WIDTH + LANES,
        (outputs + WIDTH - 1) // WIDTH,
    )
    wide, padded = 2 * spread_w * across, (depth + ROWS - 1) // ROWS * ROWS
    strip = np.zeros(4 * lines * columns * held, x.dtype)
    v = np.zeros(16 * apart, x.dtype)
    grads = np.zeros(2 * lines * wide * WIDTH, x.dtype)
    panel = np.zeros(16 * gap_e, x.dtype)
    rows, steps = offsets(padded, depth, 1), offsets(tiles, tiles, held)
    own = part * groups * panels * 16 * padded * WIDTH
    sums[own : own + groups * panels * 16 * padded * WIDTH] = 0
    for unit in range(first * lines, min(last * lines, units), lines):
        stop = min(unit + lines, units)
        count = transform_tiles(v, strip, x, unit, stop, apart, plan)
        for g in range(groups):
            for p in range(panels):
                o = p * WIDTH
                collect_grads(grads, y, unit, stop, g * outputs + o, min(WIDTH, outputs - o), plan)
                transform_grads(panel, grads, stop - unit, gap_e, plan)
                for e in range(16):
                    at = own + ((g * panels + p) * 16 + e) * padded * WIDTH
                    for r in range(0, padded, ROWS):
                        multiply_tile(
                            *(sums, at, at, WIDTH, v, e * apart + g * depth, rows, r),
                            *(steps, 0, count, panel, e * gap_e),
                        )
                        at += ROWS * WIDTH


def collect_grads(grads, y, first, last, channel, here, plan):
    """grads[line, i, x, n] = y[image, channel + n], zero outside, for n < here."""
    _, spread_h, spread_w, down, across = plan[9:14]
    channels, (height, width) = plan[15] * plan[16], plan[17:19]
    wide = 2 * spread_w * across
    if here < WIDTH:
        grads[:] = 0
    for unit in range(first, last):
        image, line = divmod(unit, spread_h * down)
        phase, ty = divmod(line, down)
        for i in range(2):
            h = phase + spread_h * (2 * ty + i)
            at = ((unit - first) * 2 + i) * wide * WIDTH
            if h < height:
                start = ((image * channels + channel) * height + h) * width
                transpose(grads, at, WIDTH, y, start, height * width, width, here)
                grads[at + width * WIDTH : at + wide * WIDTH] = 0
            else:
                grads[at : at + wide * WIDTH] = 0


def transform_grads(panel, grads, lines, apart, plan):
    """panel[e, t, n]: the transforms of the tiles of gradients of some tile rows."""
    spread_w, across = plan[11], plan[13]
    wide, t = 2 * spread_w * across, 0
    for line in range(lines):
        for shift in range(spread_w):
            for tx in range(across):
                origin = (line * 2 * wide + shift + spread_w * 2 * tx) * WIDTH
                for j in range(0, WIDTH, LANES):
                    transform_grad(
                        *(panel, t * WIDTH + j, 4 * apart, apart),
                        *(grads, origin + j, wide * WIDTH, spread_w * WIDTH),
                    )
                t += 1


def transform_panels(first, last, panels, packed, depth):
    """panels[q, e, c, n] of packed[q, (c, tap), n], for the panels from first to last."""
    for q in range(first, last):
        for c in range(depth):
            for j in range(0, WIDTH, LANES):
                transform_weight(
                    *(panels, (q * 16 * depth + c) * WIDTH + j),
                    *(4 * depth * WIDTH, depth * WIDTH),
                    *(packed, (q * depth + c) * 9 * WIDTH + j, 3 * WIDTH, WIDTH),
                )


def transform_back(first, last, packed, sums, depth, padded, parts):
    """packed[q, (c, tap), n] of the sums of all parts; False if one is not finite."""
    size = 16 * padded * WIDTH
    apart, is_finite = sums.size // parts, True
    for q in range(first, last):
        total = sums[q * size : (q + 1) * size]
        for part in range(1, parts):
            other = sums[part * apart + q * size : part * apart + (q + 1) * size]
            for i in range(size):
                total[i] += other[i]
        for c in range(depth):
            for j in range(0, WIDTH, LANES):
                transform_sums(
                    *(packed, (q * depth + c) * 9 * WIDTH + j, 3 * WIDTH, WIDTH),
                    *(sums, q * size + c * WIDTH + j, 4 * padded * WIDTH, padded * WIDTH),
                )
        is_finite &= are_finite(packed, q * depth * 9 * WIDTH, (q + 1) * depth * 9 * WIDTH)
    return is_finite


_HELPERS = (
    offsets,
    are_finite,
    strip_row,
    transform_tiles,
    spread_results,
    deliver,
    collect_grads,
    transform_grads,
)
_KERNELS: dict[str, tuple[Any, str]] = {
    "multiply": (multiply, "nnTTTTi"),
    "correlate": (correlate, "nnnTTTi"),
    "transform_panels": (transform_panels, "nnTTn"),
    "transform_back": (transform_back, "nnTTnnn"),
}
"""The kernels and their arguments, as `loop_entry` reads them."""
INTRINSIC = '''\
@intrinsic
def {name}(context, out, at, out_row, out_column, x, origin, row, column):
    """out[at + i * out_row + j * out_column] = (M x M^T)[i, j] of vectors, x at
    x[origin + i * row + j * column]."""
    number = types.intp

    def emit(context, builder, signature, args):
        return build_transform({matrix}, context, builder, signature, args)

    return types.void(out, number, number, number, x, number, number, number), emit
'''


@cache
def entry(name: str, dtype: Any, tile: Tile) -> Any:
    """A kernel for one element type and tile; the text is that of all, which share their parts."""
    title = f"Winograd's convolution: {dtype.name}, tiles of {tile.rows} by {tile.width}."
    bits = np.dtype(f"int{8 * dtype.itemsize}")
    exponent = int(np.array(np.inf, dtype).view(bits))
    parts = [
        build.HEADER.format(title=title),
        register_tile.tile_text(dtype, tile),
        f"DEPTH, BITS, EXPONENT = {DEPTH}, np.{bits.name}, {exponent}\n",
        *(build.plain_source(function) for function in (build_transform, combined)),
        *(INTRINSIC.format(name=name, matrix=matrix) for name, matrix in TRANSFORMS.items()),
        *("@inner\n" + build.plain_source(helper) for helper in _HELPERS),
        *("@entry\n" + build.plain_source(function) for function, _ in _KERNELS.values()),
    ]
    return register_tile.loop_entry("winograd", parts, _KERNELS, name, dtype)
