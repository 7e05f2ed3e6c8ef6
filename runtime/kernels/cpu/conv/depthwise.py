"""Convolutions of each channel by itself: vectors hold a place of as many channels.

Planes are transposed, some channels beside each other, so that small planes, strides and dilation
cost no more than large ones do: every step is a vector of elements times a vector of weights. What
is summed are the same offsets into a frame as in `implicit.py`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import build, scratch, threads
from torchgen_out._runtime.kernels.cpu.conv.windows import Frame, see, see_back
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

Array = Any
ROWS = 8  # places that share a load of a weight
MOST_ROWS = 12  # taps whose sums of products are added up together
PRODUCTS_PER_ELEMENT = 8  # products that take as long as an element of element-wise work
LARGE = 1 << 11  # places of a plane from which `flat.py` is as fast


class Plan(NamedTuple):
    """What a convolution sees of planes of some sizes: all that follows from sizes.

    places, targets, taps, chosen: of all windows, one behind the other. windows: for each where its
    places begin and how many there are, and the same of its taps.
    """

    frame: Frame
    places: Array
    targets: Array
    taps: Array
    chosen: Array
    windows: Array


def suits(y: Array, x: Array, w: Array, sliding: Any, groups: int) -> bool:
    """Whether each channel has a result of its own, and channels fill vectors at least by half."""
    if y.dtype.kind != "f" or w.shape[1] != 1 or w.shape[0] != groups:
        return False
    is_large = sliding[0] == (1, 1, 1) and prod(y.shape[2:]) >= LARGE
    return not is_large and 2 * groups >= _lanes(y.dtype)


def convolve(y: Array, x: Array, w: Array, bias: Array | None, sliding: Any) -> None:
    """y = w * x + bias; x and y (N, C, D, H, W), w (C, 1, KD, KH, KW), both contiguous."""
    _slide(y, x, w, bias, _plan(x.shape[2:], w.shape[2:], y.shape[2:], sliding, False))


def plan_pixels(
    result: TensorSpec, input: TensorSpec, weight: TensorSpec, has_bias: bool, sliding: Any
) -> LaunchPlan | None:
    """The plan of the same for images whose channels lie side by side, in whole vectors; else None.

    What is transposed for others lies as it should.
    """
    dtype, channels = result.dtype, result.sizes[1]
    of_each = input.sizes[1] == channels == weight.sizes[0] and weight.sizes[1] == 1
    if dtype.kind != "f" or not of_each or channels % _lanes(dtype) or not weight.is_contiguous:
        return None
    x, w, y = ((1,) * (5 - len(each.sizes)) + each.sizes[2:] for each in (input, weight, result))
    plan = _plan(x, w, y, sliding, False)
    images = result.sizes[0]

    def run(out: Array, memory: Array, taps: Array, *rest: Any) -> None:
        bias, (at, at_taps, *at_bias) = (rest[0], rest[1:-1]) if has_bias else (None, rest[:-1])
        weights = taps[at_taps : at_taps + channels * prod(w)].reshape(channels, 1, *w)
        added = None if bias is None else bias[at_bias[0] : at_bias[0] + channels]
        _run_slide(out, memory[at:], images, (x, prod(y)), weights, added, plan, is_pixels=True)

    return LaunchPlan(run, None)


def convolve_transposed(x: Array, y: Array, w: Array, bias: Array | None, sliding: Any) -> None:
    """x = the gradient that y sends back through w, plus bias."""
    _slide(x, y, w, bias, _plan(x.shape[2:], w.shape[2:], y.shape[2:], sliding, True))


def _slide(y: Array, x: Array, w: Array, bias: Array | None, plan: Plan) -> None:
    """y = the sums over the windows of x, plus bias."""
    result = y if y.flags.c_contiguous else np.empty(y.shape, y.dtype)
    sizes = x.shape[2:], y[0, 0].size
    _run_slide(result.reshape(-1), x.reshape(-1), len(x), sizes, w, bias, plan)
    if result is not y:
        y[...] = result


def _run_slide(
    y: Array,
    x: Array,
    images: int,
    sizes: tuple[Any, int],
    w: Array,
    bias: Array | None,
    plan: Plan,
    is_pixels: bool = False,
) -> None:
    """The same of flat memory. sizes: of a plane of x, and how many elements one of y has."""
    channels = y.size // (images * sizes[1])
    tile = Tile(ROWS, 1, _lanes(y.dtype))
    blocks = tile.panels(channels)
    weights = np.zeros((blocks, plan.taps.size, tile.lanes), w.dtype)
    added = np.zeros((blocks, tile.lanes), w.dtype)
    chosen = w.reshape(channels, -1)[:, plan.chosen]
    for block in range(blocks):
        own = chosen[block * tile.lanes : (block + 1) * tile.lanes]
        weights[block, :, : len(own)] = own.T
    if bias is not None:
        added.reshape(-1)[:channels] = bias
    numbers = _numbers(blocks, channels, sizes[0], plan.frame, sizes[1], is_pixels)
    work = y.size * w[0].size // PRODUCTS_PER_ELEMENT
    arrays = y, x, weights.reshape(-1), added.reshape(-1)
    kernel = _entry("slide", y.dtype, tile)
    threads.run_ranges(kernel, images * blocks, work, *arrays, *plan[1:4], plan.windows, numbers)


def correlate(w: Array, y: Array, x: Array, sliding: Any) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    plan = _plan(x.shape[2:], w.shape[2:], y.shape[2:], sliding, False)
    taps = plan.taps.size
    rows = -(-taps // -(-taps // MOST_ROWS))
    tile = Tile(rows, 1, _lanes(w.dtype))
    channels, blocks, padded = y.shape[1], tile.panels(y.shape[1]), -(-taps // rows) * rows
    steps = np.resize(plan.taps, padded)
    numbers = _numbers(blocks, channels, x.shape[2:], plan.frame, y[0, 0].size)
    work, units = y.size * taps // PRODUCTS_PER_ELEMENT, x.shape[0] * blocks
    parts = threads.part_count(units, work)
    sums = scratch.zeros("sums", (parts, blocks, padded, tile.lanes), w.dtype)
    arrays = sums.reshape(-1), y.reshape(-1), x.reshape(-1), plan.places * tile.lanes
    kernel = _entry("correlate", w.dtype, tile)
    threads.run_ranges(kernel, units, work, *arrays, steps * tile.lanes, numbers, parts=parts)
    total = sums.sum(0)[:, :taps].swapaxes(1, 2).reshape(-1, taps)
    w[...] = total[:channels].reshape(w.shape)


def _lanes(dtype: Any) -> int:
    return register_tile.registers()[0] // np.dtype(dtype).itemsize


@lru_cache(maxsize=1024)
def _plan(sizes: Any, kernel: Any, results: Any, sliding: Any, is_transposed: bool) -> Plan:
    """The plan for planes of some sizes, through kernels to results, or back."""
    if is_transposed:
        frame, windows = see_back(sizes, kernel, results, *sliding)
    else:
        frame, window = see(sizes, kernel, results, *sliding)
        windows = [window]
    table, places, targets = [], [], []
    for window in windows:
        rows = -(-window.places.size // ROWS) * ROWS
        begins = sum(map(len, places)), sum(each.taps.size for each in windows[: len(table)])
        table.append((begins[0], window.places.size, begins[1], window.taps.size))
        places.append(np.resize(window.places, rows))
        own = window.targets if window.targets.size else np.arange(window.places.size)
        targets.append(np.resize(own, rows))
    joined = [np.concatenate(each).astype(np.int64) for each in (places, targets)]
    taps, chosen = (
        np.concatenate([getattr(each, name) for each in windows]) for name in ("taps", "chosen")
    )
    return Plan(frame, *joined, taps, chosen, np.array(table, np.int64).reshape(-1))


@lru_cache(maxsize=1024)
def _numbers(
    blocks: int, channels: int, sizes: Any, frame: Frame, plane: int, is_pixels: bool = False
) -> Array:
    """What the loops read, in one array. plane: elements of a plane of the other tensor."""
    given = blocks, channels, frame.numel, plane, *sizes, *frame.sizes, *frame.before, is_pixels
    return np.array(given, np.int64)


# Compiled.


def accumulate(builder, places, factors, sums):
    """One step: the vectors at each row's place times the factors, one by one."""
    new, size = [], T(0).itemsize
    for place, total in zip(places, sums, strict=True):
        at = builder.bitcast(place, factors[0].type.as_pointer())
        product = builder.fmul(builder.load(at, align=size), factors[0], flags=CONTRACT)
        new.append(builder.fadd(product, total, flags=CONTRACT))
    return new


def frame_channels(seen, packed, x, unit, plan):
    """seen[place, n] = x[image, block * LANES + n], in a frame of zeros that are there already."""
    blocks, channels, _, _, depth, height, width, _, fh, fw, bd, bh, bw = plan[:13]
    image, block = divmod(unit, blocks)
    size, here = depth * height * width, min(LANES, channels - block * LANES)
    start = (image * channels + block * LANES) * size
    transpose(packed, 0, LANES, x, start, size, size, here)
    for d in range(depth):
        for h in range(height):
            source = (d * height + h) * width * LANES
            target = (((d + bd) * fh + h + bh) * fw + bw) * LANES
            for i in range(0, width * LANES, LANES):
                copy_line(seen, target + i, packed, source + i)


def frame_pixels(seen, x, unit, plan):
    """The same of pixels, whose channels lie side by side."""
    blocks, channels, _, _, depth, height, width, _, fh, fw, bd, bh, bw = plan[:13]
    image, block = divmod(unit, blocks)
    for d in range(depth):
        for h in range(height):
            source = ((image * depth + d) * height + h) * width * channels + block * LANES
            target = (((d + bd) * fh + h + bh) * fw + bw) * LANES
            for i in range(width):
                copy_line(seen, target + i * LANES, x, source + i * channels)


def slide(first, last, y, x, weights, bias, places, targets, taps, windows, plan):
    """y = the sums over the windows of the planes of x, plus bias, for blocks of channels."""
    blocks, channels, numel, plane, depth, height, width = plan[:7]
    of_pixels = plan[13] != 0
    own = 0 if of_pixels else LANES  # elements of a place in buffers for turned planes
    seen, packed = (
        np.zeros(numel * LANES, x.dtype),
        np.zeros(depth * height * width * own, x.dtype),
    )
    result, sums = np.zeros(plane * own, x.dtype), np.empty(ROWS * LANES, x.dtype)
    rows, steps = np.empty(places.size, np.int64), np.empty(taps.size, np.int64)
    for i in range(places.size):
        rows[i] = places[i] * LANES
    for i in range(taps.size):
        steps[i] = taps[i] * LANES
    for unit in range(first, last):
        image, block = divmod(unit, blocks)
        here = min(LANES, channels - block * LANES)
        start = (image * channels + block * LANES) * plane
        if of_pixels:
            start = image * plane * channels + block * LANES
            frame_pixels(seen, x, unit, plan)
        else:
            frame_channels(seen, packed, x, unit, plan)
        for i in range(0, windows.size, 4):
            begin, count, tap, number = windows[i], windows[i + 1], windows[i + 2], windows[i + 3]
            for r in range(begin, begin + count, ROWS):
                for k in range(ROWS):
                    copy_line(sums, k * LANES, bias, block * LANES)
                if number > 0:
                    panel = (block * taps.size + tap) * LANES
                    multiply_tile(
                        *(sums, 0, 0, LANES, seen, 0, rows, r),
                        *(steps, tap, tap + number, weights, panel),
                    )
                for k in range(min(ROWS, begin + count - r)):
                    if of_pixels:
                        copy_line(y, start + targets[r + k] * channels, sums, k * LANES)
                    else:
                        copy_line(result, targets[r + k] * LANES, sums, k * LANES)
        if not of_pixels:
            transpose(y, start, plane, result, 0, LANES, here, plane)


def correlate_channels(part, first, last, sums, y, x, places, taps, plan):
    """sums[part, block, k, n] += the sum over places of y * x seen by tap k, for blocks."""
    blocks, channels, numel, plane, depth, height, width = plan[:7]
    seen, packed = (
        np.zeros(numel * LANES, x.dtype),
        np.zeros(depth * height * width * LANES, x.dtype),
    )
    grads = np.zeros(plane * LANES, x.dtype)
    for unit in range(first, last):
        image, block = divmod(unit, blocks)
        frame_channels(seen, packed, x, unit, plan)
        here = min(LANES, channels - block * LANES)
        start = (image * channels + block * LANES) * plane
        transpose(grads, 0, LANES, y, start, plane, plane, here)
        at = (part * blocks + block) * taps.size * LANES
        for r in range(0, taps.size, ROWS):
            multiply_tile(
                *(sums, at, at, LANES, seen, 0, taps, r),
                *(places, 0, plane, grads, 0),
            )
            at += ROWS * LANES


_KERNELS: dict[str, tuple[Any, str]] = {
    "slide": (slide, "nnTTTTiiiii"),
    "correlate": (correlate_channels, "nnnTTTiii"),
}
"""The kernels and their arguments, as `loop_entry` reads them."""


@cache
def _entry(name: str, dtype: Any, tile: Tile) -> Any:
    """A kernel for one element type and tile."""
    parts = [
        build.HEADER.format(title=f"Convolution channel by channel: {dtype.name}, {name}."),
        register_tile.tile_text(dtype, tile),
        build.plain_source(accumulate),  # in the other's place
        "@inner\n" + build.plain_source(frame_channels),
        "@inner\n" + build.plain_source(frame_pixels),
        "@entry\n" + build.plain_source(_KERNELS[name][0]),
    ]
    return register_tile.loop_entry("depthwise", parts, _KERNELS, name, dtype)
