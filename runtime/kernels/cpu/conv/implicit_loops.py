"""The compiled side of implicit convolutions: blocks of rows, panels, and framed images.

`plan` holds the numbers of `implicit.numbers`. A part frames the images of its rows by
itself, few at a time, so that they are still in its second cache when it multiplies them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import register_tile
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile

DEPTH = 192  # steps of a panel that are in the first cache meanwhile
LONG_DEPTH = 512  # the same for gradients of weights, whose sums are many


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


def frame_planes(planes, x, first, count, numel, sizes, is_fresh):
    """planes[n] = x[first + n], framed by zeros, for n < count; these are there unless is_fresh."""
    depth, height, width, _, ph, pw, bd, bh, bw = sizes[:9]
    size = depth * height * width
    for n in range(count):
        plane = planes[n * numel : (n + 1) * numel]
        if is_fresh:
            plane[:] = 0
        image = x[(first + n) * size : (first + n + 1) * size]
        for d in range(depth):
            for h in range(height):
                at = ((d + bd) * ph + h + bh) * pw + bw
                line = image[(d * height + h) * width : (d * height + h + 1) * width]
                target = plane[at : at + width]
                for i in range(width):
                    target[i] = line[i]


def multiply(part, first, last, y, x, planes, panels, bias, places, steps, targets, plan):
    """y[image, o, targets[p]] = bias[o] + sum over k of x[places[p] + steps[k]] * panels[k, o].

    The rows are the places of all images; `first` to `last` are blocks of them. With few images at
    a time these are framed first, in the part's own piece of `planes`.
    """
    block, images, few, channels, _, _, _, numel = plan[:8]
    image_numel, count = channels * numel, places.size
    row, end = first * block, min(last * block, images * count)
    sums = np.empty((block + ROWS) * WIDTH, x.dtype)  # the last row is the bias
    rows = np.zeros(block + ROWS, np.int64)
    base, stop, seen, is_fresh = 0, end, x, True
    while row < end:
        if few:
            base = row // count
            stop = min(end, (base + few) * count)
            seen = planes[part * few * image_numel : (part + 1) * few * image_numel]
            there = ((stop - 1) // count + 1 - base) * channels
            frame_planes(seen, x, base * channels, there, numel, plan[8:], is_fresh)
            is_fresh = False
        while row < stop:
            n = min(block, stop - row)
            locate(rows, places, row - base * count, n, image_numel)
            rows[n : n + ROWS] = rows[n - 1]  # the last tile reads there, too: steps may go back
            multiply_rows(y, seen, sums, rows, panels, bias, steps, targets, plan, row, n, count)
            row += n


def multiply_rows(y, x, sums, rows, panels, bias, steps, targets, plan, begin, n, count):
    """The results of a block of rows, for all groups and outputs."""
    block, _, _, channels, groups, outputs, plane, numel = plan[:8]
    depth, group_numel = steps.size, channels // groups * numel
    initial = (block + ROWS - 1) * WIDTH
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


def correlate(part, first, last, sums, y, x, planes, places, rows, plan, is_first):
    """sums[part, g, p, r, n] += sum over places of x[place + rows[r]] * y[g, p * WIDTH + n, place].

    The units from first to last are places, those of all images being numbered through, or, for
    one part of the sums that all share, panels (g, p). is_first: the sums begin with 0.
    """
    _, images, few, channels, groups, outputs, _, numel = plan[:8]
    image_numel, count = channels * numel, places.size
    panels = groups * ((outputs + WIDTH - 1) // WIDTH)
    row, end, panel, last_panel, own = first, last, 0, panels, part * panels
    if plan[17]:
        row, end, panel, last_panel, own = 0, images * count, first, last, 0
    if is_first:
        sums[(own + panel) * rows.size * WIDTH : (own + last_panel) * rows.size * WIDTH] = 0
    base, stop, seen, is_fresh = 0, end, x, True
    while row < end:
        if few:
            base = row // count
            stop = min(end, (base + few) * count)
            seen = planes[part * few * image_numel : (part + 1) * few * image_numel]
            there = ((stop - 1) // count + 1 - base) * channels
            frame_planes(seen, x, base * channels, there, numel, plan[8:], is_fresh)
            is_fresh = False
        correlate_places(sums, own, y, seen, places, rows, plan, row, stop, base, panel, last_panel)
        row = stop


def correlate_places(sums, own, y, x, places, rows, plan, row, stop, base, first, last):
    """The same for the places from row to stop and for some panels; base: x's first image."""
    _, _, _, channels, groups, outputs, _, numel = plan[:8]
    count, panels = places.size, (outputs + WIDTH - 1) // WIDTH
    steps = np.empty(LONG_DEPTH, np.int64)
    panel = np.zeros(LONG_DEPTH * WIDTH, x.dtype)
    blocks = (stop - row + LONG_DEPTH - 1) // LONG_DEPTH
    block = (stop - row + blocks - 1) // blocks
    for begin in range(row, stop, block):
        n = min(block, stop - begin)
        locate(steps, places, begin - base * count, n, channels * numel)
        for q in range(first, last):
            g, p = divmod(q, panels)
            channel, here = g * outputs + p * WIDTH, min(WIDTH, outputs - p * WIDTH)
            collect_panel(panel, y, begin, n, count, groups * outputs, channel, here)
            at = (own + q) * rows.size * WIDTH
            for r in range(0, rows.size, ROWS):
                multiply_tile(
                    *(sums, at, at, WIDTH),
                    *(x, g * (channels // groups) * numel, rows, r, steps, 0, n, panel, 0),
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


def collect(first, last, w, sums, outputs, depth, rows, parts):
    """w[g, p * WIDTH + n, k] = the sum over parts of sums[part, g, p, k, n]."""
    panels = (outputs + WIDTH - 1) // WIDTH
    size, apart = rows * WIDTH, sums.size // parts
    for q in range(first, last):
        g, p = divmod(q, panels)
        total = sums[q * size : (q + 1) * size]
        for part in range(1, parts):
            other = sums[part * apart + q * size : part * apart + (q + 1) * size]
            for i in range(size):
                total[i] += other[i]
        channel, here = g * outputs + p * WIDTH, min(WIDTH, outputs - p * WIDTH)
        transpose(w, channel * depth, depth, sums, q * size, WIDTH, here, depth)


def surround(first, last, planes, x, plan):
    """planes[n] = x[n], framed by zeros, for the planes from first to last."""
    numel = plan[7]
    own = planes[first * numel : last * numel]
    frame_planes(own, x, first, last - first, numel, plan[8:], True)


_HELPERS = (
    frame_planes,
    locate,
    deliver,
    multiply_rows,
    collect_panel,
    correlate_places,
)
_KERNELS: dict[str, tuple[Any, str]] = {
    "pack": (pack, "nnTTnn"),
    "pack_back": (pack_back, "nnTTinnn"),
    "multiply": (multiply, "nnnTTTTTiiii"),
    "correlate": (correlate, "nnnTTTTiiin"),
    "collect": (collect, "nnTTnnnn"),
    "surround": (surround, "nnTTi"),
}
"""The kernels and their arguments, as `loop_entry` reads them."""


@cache
def entry(name: str, dtype: Any, tile: Tile) -> Any:
    """A kernel for one element type and tile; the text is that of all, which share their parts."""
    title = f"Implicit convolution: {dtype.name}, tiles of {tile.rows} by {tile.width}."
    parts = [
        build.HEADER.format(title=title),
        register_tile.tile_text(dtype, tile),
        f"DEPTH, LONG_DEPTH = {DEPTH}, {LONG_DEPTH}\n",
        *("@inner\n" + build.plain_source(helper) for helper in _HELPERS),
        *("@entry\n" + build.plain_source(function) for function, _ in _KERNELS.values()),
    ]
    return register_tile.loop_entry("implicit", parts, _KERNELS, name, dtype)
