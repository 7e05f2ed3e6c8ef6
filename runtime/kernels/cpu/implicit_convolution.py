"""Convolutions as products whose columns are never written: elements are found by offsets.

All three products of a convolution are sums of x[row + step] * panel[step, n] with the tiles of
`register_tile`. For the result and for the gradient of the image, rows are places, steps the taps
of all channels, and the panel holds weights; for the gradient of the weight, rows are the taps,
steps the places, and the panel holds the gradient of the result. Strides, dilation, and one to
three dims are a matter of the offsets (`windows`).
"""

# ruff: noqa: F821 - names of the compiled text: ROWS, T, WIDTH, multiply_tile, transpose.

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from runtime.kernels import build, scratch, threads
from runtime.kernels.cpu import register_tile
from runtime.kernels.cpu.register_tile import Tile, tile_for
from runtime.kernels.cpu.windows import Frame, Window, see, see_back

Array = Any
BLOCK = 384  # rows of sums that are filled together, more or less
DEPTH = 192  # steps of a panel that are in the first cache meanwhile
LONG_DEPTH = 512  # the same for gradients of weights, whose sums are many
EVEN = 1.15  # times its part that a thread may have to do
CHUNK = 1 << 20  # elements of the framed images that are held at once


def convolve(y: Array, x: Array, w: Array, bias: Array | None, sliding: Any, groups: int) -> None:
    """y = w * x + bias; x (N, C, D, H, W), w (O, C / groups, KD, KH, KW), both contiguous.

    sliding: stride, padding and dilation, three numbers each.
    """
    frame, window = see(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    outputs, depth = w.shape[0] // groups, w[0].size
    tile = tile_for(w.dtype, outputs)
    panels = _empty_panels(tile, w.dtype, groups, outputs, depth)
    _over_panels("pack", tile, groups, outputs, w.size, panels, w.reshape(-1), outputs, depth)
    _multiply(y, x, frame, [(window, panels)], bias, groups)


def convolve_transposed(x: Array, y: Array, w: Array, sliding: Any, groups: int) -> None:
    """x = the gradient that y sends back through w."""
    frame, windows = see_back(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    tile, inputs, outputs = tile_for(w.dtype, w.shape[1]), w.shape[0] // groups, w.shape[1]
    pairs = []
    for window in windows:
        if not window.taps.size:
            x.fill(0)
        elif window.places.size:
            panels = _empty_panels(tile, w.dtype, groups, outputs, inputs * window.taps.size)
            arrays = panels, w.reshape(-1), window.chosen
            numbers = inputs, outputs, w[0, 0].size
            _over_panels("pack_back", tile, groups, outputs, panels.size, *arrays, *numbers)
            pairs.append((window, panels))
    _multiply(x, y, frame, pairs, None, groups)


def _multiply(
    y: Array, x: Array, frame: Frame, pairs: Any, bias: Array | None, groups: int
) -> None:
    """y = the products of x with the panels of each window, at its targets."""
    result = y if y.flags.c_contiguous else y.copy()
    outputs, channels = y.shape[1] // groups, x.shape[1] // groups
    tile = tile_for(y.dtype, outputs)
    kernel, added = (
        _entry("multiply", y.dtype, tile),
        _initial(tile, bias, y.dtype, groups, outputs),
    )
    for start, images, planes in framed(x, frame):
        flat = result[start : start + images].reshape(-1)
        for window, panels in pairs:
            steps = _steps(window, channels, frame.numel)
            arrays = flat, planes, panels, added, window.places, steps, window.targets
            rows = images * window.places.size
            blocks, block = _blocks(rows, rows * y.shape[1] * steps.size, tile)
            numbers = block, images, groups, outputs, channels * frame.numel, y[0, 0].size
            work = rows * y.shape[1] * steps.size
            threads.run_ranges(kernel, blocks, work, *arrays, *numbers)
    if result is not y:
        y[...] = result


def _blocks(rows: int, work: int, tile: Tile) -> tuple[int, int]:
    """How many blocks, as many for each thread, and how many rows a block has."""
    parts = threads.part_count(rows, work)
    blocks = max(round(rows / (BLOCK * parts)), 1) * parts
    block = -(-rows // (blocks * tile.rows)) * tile.rows
    return -(-rows // block), block


def correlate(w: Array, y: Array, x: Array, sliding: Any, groups: int) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    frame, window = see(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    outputs, depth = w.shape[0] // groups, w[0].size
    tile = tile_for(w.dtype, outputs)
    rows = np.zeros(-(-depth // tile.rows) * tile.rows, np.int64)
    rows[:depth] = _steps(window, w.shape[1], frame.numel)
    panels, work = groups * tile.panels(outputs), y.size * depth
    by_panel = _is_even(panels, work)
    parts = threads.part_count(panels if by_panel else x.shape[0] * window.places.size, work)
    sums = np.zeros((1 if by_panel else parts, panels * rows.size * tile.width), w.dtype)
    kernel = _entry("correlate", w.dtype, tile)
    for start, images, planes in framed(x, frame):
        flat = y[start : start + images].reshape(-1)
        arrays = sums.reshape(-1), flat, planes, window.places, rows
        numbers = images, groups, outputs, w.shape[1] * frame.numel
        places = images * window.places.size
        shares = [_share(part, parts, places, panels, by_panel) for part in range(parts)]
        threads.run_calls(kernel, [(*share, *arrays, *numbers) for share in shares])
    for part in sums[1:]:
        sums[0] += part
    result = w if w.flags.c_contiguous else np.empty(w.shape, w.dtype)
    sizes = outputs, depth, rows.size
    _over_panels("collect", tile, groups, outputs, w.size, result.reshape(-1), sums[0], *sizes)
    if result is not w:
        w[...] = result


def _is_even(panels: int, work: int) -> bool:
    """Whether the threads get about as many panels each; if not, they share the places.

    Then each has sums of its own, to be added up.
    """
    parts = threads.part_count(work, work)
    return -(-panels // parts) * parts <= EVEN * panels


def _share(part: int, parts: int, places: int, panels: int, by_panel: bool) -> tuple[int, ...]:
    """Which sums a thread has, its first and last place, its first and last panel."""
    if by_panel:
        return 0, 0, places, panels * part // parts, panels * (part + 1) // parts
    return part, places * part // parts, places * (part + 1) // parts, 0, panels


def _over_panels(name: str, tile: Tile, groups: int, outputs: int, work: int, *args: Any) -> None:
    """A kernel that moves panels, shared among the threads."""
    kernel = _entry(name, args[0].dtype, tile)
    threads.run_ranges(kernel, groups * tile.panels(outputs), work, *args)


def framed(x: Array, frame: Frame) -> Iterator[tuple[int, int, Array]]:
    """(first image, number of images, their framed planes as one flat array), chunk by chunk."""
    count, channels = x.shape[:2]
    if frame.is_bare:
        yield 0, count, x.reshape(-1)
        return
    kernel = _entry("surround", x.dtype, tile_for(x.dtype, 1))
    step = max(1, min(count, CHUNK // (channels * frame.numel)))
    planes = scratch.take("planes", (step * channels * frame.numel,), x.dtype)
    for start in range(0, count, step):
        flat = x[start : start + step].reshape(-1)
        numbers = (*x.shape[2:], *frame.sizes, *frame.before, frame.numel)
        images = min(step, count - start)
        threads.run_ranges(kernel, images * channels, flat.size, planes, flat, *numbers)
        yield start, images, planes


def _steps(window: Window, channels: int, numel: int) -> Array:
    """The offsets of all taps of all channels."""
    return np.add.outer(np.arange(channels) * numel, window.taps).reshape(-1)


def _initial(tile: Tile, bias: Array | None, dtype: Any, groups: int, outputs: int) -> Array:
    """What the sums begin with, for each lane of the panels."""
    added = np.zeros((groups, tile.panels(outputs) * tile.width), dtype)
    if bias is not None:
        added[:, :outputs] = bias.reshape(groups, outputs)
    return added.reshape(-1)


def _empty_panels(tile: Tile, dtype: Any, groups: int, outputs: int, depth: int) -> Array:
    """Panels to be filled; the lanes beyond the outputs are zero."""
    make = np.zeros if outputs % tile.width else np.empty
    return make(groups * tile.panels(outputs) * depth * tile.width, dtype)


# -- compiled -----------------------------------------------------------------------------------


def pack(first, last, panels, w, outputs, depth):
    """panels[g, p, k, n] = w[g, p * WIDTH + n, k], for the panels (g, p) from first to last."""
    count = (outputs + WIDTH - 1) // WIDTH
    for q in range(first, last):
        g, p = divmod(q, count)
        channel, here = g * outputs + p * WIDTH, min(WIDTH, outputs - p * WIDTH)
        transpose(panels, q * depth * WIDTH, WIDTH, w, channel * depth, depth, depth, here)


def pack_back(first, last, panels, w, chosen, inputs, outputs, taps):
    """panels[g, p, (i, t), n] = w[g, i, p * WIDTH + n, chosen[t]]."""
    count = (outputs + WIDTH - 1) // WIDTH
    at = first * inputs * chosen.size * WIDTH
    for q in range(first, last):
        g, p = divmod(q, count)
        here = min(WIDTH, outputs - p * WIDTH)
        for i in range(inputs):
            start = ((g * inputs + i) * outputs + p * WIDTH) * taps
            for t in range(chosen.size):
                for n in range(here):
                    panels[at + n] = w[start + n * taps + chosen[t]]
                at += WIDTH


def multiply(
    first,
    last,
    y,
    x,
    panels,
    bias,
    places,
    steps,
    targets,
    block,
    images,
    groups,
    outputs,
    group_numel,
    plane,
):
    """y[image, o, targets[p]] = bias[o] + sum over k of x[places[p] + steps[k]] * panels[k, o].

    The rows are the places of all images; `first` to `last` are blocks of them.
    """
    count, depth = places.size, steps.size
    sums = np.empty((block + ROWS) * WIDTH, x.dtype)  # the last row is the bias
    initial = (block + ROWS - 1) * WIDTH
    rows = np.zeros(block + ROWS, np.int64)
    for b in range(first, last):
        begin = b * block
        n = min(block, images * count - begin)
        locate(rows, places, begin, n, groups * group_numel)
        for g in range(groups):
            for o in range(0, outputs, WIDTH):
                panel = g * ((outputs + WIDTH - 1) // WIDTH) + o // WIDTH
                for j in range(WIDTH):
                    sums[initial + j] = bias[panel * WIDTH + j]
                for k in range(0, depth, DEPTH):
                    stop = min(k + DEPTH, depth)
                    place = (panel * depth + k) * WIDTH
                    old, step, gap = (0, WIDTH, WIDTH) if k else (initial, 0, 0)
                    for r in range(0, n, ROWS):
                        at = r * WIDTH
                        multiply_tile(
                            *(sums, at, old + r * step, gap),
                            *(x, g * group_numel, rows, r, steps, k, stop, panels, place),
                        )
                here = min(WIDTH, outputs - o)
                channel = g * outputs + o
                deliver(y, sums, targets, begin, n, count, groups * outputs, channel, here, plane)


def locate(rows, places, begin, n, image_numel):
    """rows[r] = where place begin + r lies; the places of all images are numbered through."""
    image, place = divmod(begin, places.size)
    for r in range(n):
        rows[r] = image * image_numel + places[place]
        place += 1
        if place == places.size:
            image, place = image + 1, 0


def deliver(y, sums, targets, begin, n, count, channels, channel, here, plane):
    """y[image, channel + j, place of r] = sums[r, j] for j < here."""
    r = 0
    while r < n:
        image, place = divmod(begin + r, count)
        run = min(n - r, count - place)
        start = (image * channels + channel) * plane
        if not targets.size:
            transpose(y, start + place, plane, sums, r * WIDTH, WIDTH, here, run)
        else:
            for j in range(here):
                for i in range(run):
                    y[start + j * plane + targets[place + i]] = sums[(r + i) * WIDTH + j]
        r += run


def correlate_places(
    part,
    first,
    last,
    first_panel,
    last_panel,
    sums,
    y,
    x,
    places,
    rows,
    images,
    groups,
    outputs,
    group_numel,
):
    """sums[part, g, p, r, n] += sum over places of x[place + rows[r]] * y[g, p * WIDTH + n, place].

    Over the places from first to last, those of all images being numbered through, and for the
    panels (g, p) from first_panel to last_panel.
    """
    count = places.size
    steps = np.empty(LONG_DEPTH, np.int64)
    panel = np.zeros(LONG_DEPTH * WIDTH, x.dtype)
    panels = (outputs + WIDTH - 1) // WIDTH
    for begin in range(first, last, LONG_DEPTH):
        n = min(LONG_DEPTH, last - begin)
        locate(steps, places, begin, n, groups * group_numel)
        for q in range(first_panel, last_panel):
            g, p = divmod(q, panels)
            channel, here = g * outputs + p * WIDTH, min(WIDTH, outputs - p * WIDTH)
            collect_panel(panel, y, begin, n, count, groups * outputs, channel, here)
            at = (part * groups * panels + q) * rows.size * WIDTH
            for r in range(0, rows.size, ROWS):
                multiply_tile(
                    *(sums, at, at, WIDTH),
                    *(x, g * group_numel, rows, r, steps, 0, n, panel, 0),
                )
                at += ROWS * WIDTH


def collect_panel(panel, y, begin, n, count, channels, channel, here):
    """panel[k, j] = y[image, channel + j, place of k] for j < here."""
    k = 0
    while k < n:
        image, place = divmod(begin + k, count)
        run = min(n - k, count - place)
        start = (image * channels + channel) * count + place
        transpose(panel, k * WIDTH, WIDTH, y, start, count, run, here)
        k += run


def collect(first, last, w, sums, outputs, depth, rows):
    """w[g, p * WIDTH + n, k] = sums[g, p, k, n], for the panels (g, p) from first to last."""
    panels = (outputs + WIDTH - 1) // WIDTH
    for q in range(first, last):
        g, p = divmod(q, panels)
        channel, here = g * outputs + p * WIDTH, min(WIDTH, outputs - p * WIDTH)
        transpose(w, channel * depth, depth, sums, q * rows * WIDTH, WIDTH, here, depth)


def surround(first, last, planes, x, depth, height, width, pd, ph, pw, bd, bh, bw, numel):
    """planes[n] = x[n], framed by zeros, for the planes from first to last."""
    size = depth * height * width
    for n in range(first, last):
        plane = planes[n * numel : (n + 1) * numel]
        plane[:] = 0
        image = x[n * size : (n + 1) * size]
        for d in range(depth):
            for h in range(height):
                at = ((d + bd) * ph + h + bh) * pw + bw
                line = image[(d * height + h) * width : (d * height + h + 1) * width]
                target = plane[at : at + width]
                for i in range(width):
                    target[i] = line[i]


_HELPERS = (locate, deliver, collect_panel)
_KERNELS: dict[str, tuple[Any, str]] = {
    "pack": (pack, "nnTTnn"),
    "pack_back": (pack_back, "nnTTinnn"),
    "multiply": (multiply, "nnTTTTiiinnnnnn"),
    "correlate": (correlate_places, "nnnnnTTTiinnnn"),
    "collect": (collect, "nnTTnnn"),
    "surround": (surround, "nnTTnnnnnnnnnn"),
}
"""The kernels and their arguments: arrays of T, arrays of int64, numbers."""


@cache
def _entry(name: str, dtype: Any, tile: Tile) -> Any:
    """A kernel for one element type and tile; the text is that of all, which share their parts."""
    title = f"Implicit convolution: {dtype.name}, tiles of {tile.rows} by {tile.width}."
    parts = [
        build.HEADER.format(title=title),
        register_tile.tile_text(dtype, tile),
        f"DEPTH, LONG_DEPTH = {DEPTH}, {LONG_DEPTH}\n",
        *("@inner\n" + build.plain_source(helper) for helper in _HELPERS),
        *("@entry\n" + build.plain_source(function) for function, _ in _KERNELS.values()),
    ]
    types = {"T": dtype, "i": np.dtype(np.int64), "n": int}
    function, kinds = _KERNELS[name]
    arguments = tuple([types[kind] for kind in kinds])
    text = "\n\n".join(parts)
    return build.entry_point(f"implicit_{dtype.name}", text, arguments, function.__name__)
