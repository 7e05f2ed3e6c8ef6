"""Convolutions as products whose columns are never written: elements are found by offsets.

All three products of a convolution are sums of x[row + step] * panel[step, n] with the tiles of
`register_tile`. For the result and for the gradient of the image, rows are places, steps the taps
of all channels, and the panel holds weights; for the gradient of the weight, rows are the taps,
steps the places, and the panel holds the gradient of the result. Strides, dilation, and one to
three dims are a matter of the offsets (`windows`). The loops are in `implicit_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import scratch, threads
from torchgen_out._runtime.kernels.cpu.conv.implicit_loops import entry
from torchgen_out._runtime.kernels.cpu.conv.windows import Frame, Window, see, see_back
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile, tile_for

Array = Any
BLOCK = 384  # rows of sums that are filled together, more or less
EVEN = 1.15  # times its part that a thread may have to do
CHUNK = 1 << 20  # elements of the framed images that are held at once
CACHED = 3 << 17  # elements of framed images that are still in the second cache when they are read
MANY = 4  # images for each thread, so that one that two of them frame does not matter
PRODUCTS_PER_ELEMENT = 8  # products that take as long as an element of element-wise work


class View(NamedTuple):
    """What a convolution sees of its image: all that follows from sizes.

    steps: where the taps of all channels of a group lie from their place.
    rows: the same, for as many as fill whole tiles.
    """

    tile: Tile
    frame: Frame
    window: Window
    steps: Array
    rows: Array


@lru_cache(maxsize=1024)
def view(sizes: Any, kernel: Any, results: Any, sliding: Any, outputs: int, dtype: Any) -> View:
    """The view of images of `sizes` through kernels (outputs, channels, KD, KH, KW)."""
    frame, window = see(sizes, kernel[2:], results, *sliding)
    tile = tile_for(dtype, outputs)
    steps = _steps(window, kernel[1], frame.numel)
    rows = np.zeros(-(-steps.size // tile.rows) * tile.rows, np.int64)
    rows[: steps.size] = steps
    return View(tile, frame, window, steps, rows)


def convolve(y: Array, x: Array, w: Array, bias: Array | None, sliding: Any, groups: int) -> None:
    """y = w * x + bias; x (N, C, D, H, W), w (O, C / groups, KD, KH, KW), both contiguous.

    sliding: stride, padding and dilation, three numbers each.
    """
    outputs = w.shape[0] // groups
    tile, frame, window, steps, _ = view(
        x.shape[2:], w.shape, y.shape[2:], sliding, outputs, w.dtype
    )
    _multiply(y, x, frame, [(window, steps, pack(w, tile, groups))], bias, groups)


def launch(
    y: tuple[int, ...],
    x: tuple[int, ...],
    w: tuple[int, ...],
    dtype: Any,
    has_bias: bool,
    sliding: Any,
    groups: int,
) -> Callable[..., None] | None:
    """run(y, x, w, [bias], *where each begins but y, params) over flat memory, for these sizes.

    None for so much that threads share it, or that goes in pieces.
    """
    outputs, depth, images = w[0] // groups, prod(w[1:]), x[0]
    tile, frame, window, steps, _ = view(x[2:], w, y[2:], sliding, outputs, dtype)
    rows, channels = images * window.places.size, images * x[1]
    work, numel = rows * y[1] * steps.size // PRODUCTS_PER_ELEMENT, channels * frame.numel
    if work >= 2 * threads.GRAIN or numel > CACHED:
        return None
    few = 0 if frame.is_bare else images
    blocks, block = _blocks(rows, work, tile)
    plan = numbers(block, images, few, x[1], groups, outputs, prod(y[2:]), frame, x[2:], False)
    pack_all, multiply = entry("pack", dtype, tile), entry("multiply", dtype, tile)
    count, found = groups * tile.panels(outputs), (window.places, steps, window.targets)

    def run(y: Array, x: Array, w: Array, *rest: Any) -> None:
        bias = None
        if has_bias:
            bias, at_x, at_w, at, _ = rest
            bias = bias[at : at + groups * outputs]
        else:
            at_x, at_w, _ = rest
        panels = _empty_panels(tile, dtype, groups, outputs, depth)
        pack_all(0, count, panels, w[at_w:], outputs, depth)
        seen = x[at_x:]
        planes = scratch.take("planes", (numel,), dtype) if few else seen
        added = initial(tile, bias, dtype, groups, outputs)
        multiply(0, 0, blocks, y, seen, planes, panels, added, *found, plan)

    return run


def pack(w: Array, tile: Tile, groups: int) -> Array:
    """Panels of weights, (groups, panels, C / groups * taps, width of the tile), as one vector."""
    outputs, depth = w.shape[0] // groups, w[0].size
    panels = _empty_panels(tile, w.dtype, groups, outputs, depth)
    _over_panels("pack", tile, groups, outputs, w.size, panels, w.reshape(-1), outputs, depth)
    return panels


def convolve_transposed(
    x: Array, y: Array, w: Array, bias: Array | None, sliding: Any, groups: int
) -> None:
    """x = the gradient that y sends back through w, plus bias."""
    frame, windows = see_back(x.shape[2:], w.shape[2:], y.shape[2:], *sliding)
    tile, inputs, outputs = tile_for(w.dtype, w.shape[1]), w.shape[0] // groups, w.shape[1]
    threes = []
    for window in windows:
        if not window.taps.size:
            x[...] = 0 if bias is None else bias.reshape(-1, 1, 1, 1)
        elif window.places.size:
            panels = _empty_panels(tile, w.dtype, groups, outputs, inputs * window.taps.size)
            arrays = panels, w.reshape(-1), window.chosen
            numbers = inputs, outputs, w[0, 0].size
            _over_panels("pack_back", tile, groups, outputs, panels.size, *arrays, *numbers)
            threes.append((window, _steps(window, inputs, frame.numel), panels))
    _multiply(x, y, frame, threes, bias, groups)


def _multiply(
    y: Array, x: Array, frame: Frame, threes: Any, bias: Array | None, groups: int
) -> None:
    """y = the products of x with the panels of each (window, steps, panels), at its targets."""
    result = y if y.flags.c_contiguous else y.copy()
    outputs = y.shape[1] // groups
    tile = tile_for(y.dtype, outputs)
    kernel, added = (
        entry("multiply", y.dtype, tile),
        initial(tile, bias, y.dtype, groups, outputs),
    )
    few, most = 0, threads.get_num_threads()
    if len(threes) == 1:
        few = _few_images(x, frame, y.size * threes[0][1].size // PRODUCTS_PER_ELEMENT)
    for start, images, seen, planes in _pieces(x, frame, few, most):
        flat = result[start : start + images].reshape(-1)
        for window, steps, panels in threes:
            rows = images * window.places.size
            work = rows * y.shape[1] * steps.size // PRODUCTS_PER_ELEMENT
            blocks, block = _blocks(rows, work, tile)
            plan = numbers(
                *(block, images, few, x.shape[1], groups, outputs, y[0, 0].size),
                *(frame, x.shape[2:], False),
            )
            arrays = flat, seen, planes, panels, added, window.places, steps, window.targets
            parts = min(most, threads.part_count(blocks, work))
            threads.run_ranges(kernel, blocks, work, *arrays, plan, parts=parts)
    if result is not y:
        y[...] = result


@lru_cache(maxsize=1024)
def numbers(
    block: int,
    images: int,
    few: int,
    channels: int,
    groups: int,
    outputs: int,
    plane: int,
    frame: Frame,
    sizes: Any,
    by_panel: bool,
) -> Array:
    """What the loops read, in one array.

    few: the images that a part frames at a time; 0 if they are framed, or need no frame.
    plane: elements of a plane of the result. sizes: of the images.
    """
    framing = *sizes, *frame.sizes, *frame.before
    given = block, images, few, channels, groups, outputs, plane, frame.numel, *framing, by_panel
    return np.array(given, np.int64)


def _blocks(rows: int, work: int, tile: Tile) -> tuple[int, int]:
    """How many blocks, as many for each thread, and how many rows a block has."""
    parts = threads.part_count(rows, work)
    blocks = max(round(rows / (BLOCK * parts)), 1) * parts
    block = -(-rows // (blocks * tile.rows)) * tile.rows
    return -(-rows // block), block


def correlate(w: Array, y: Array, x: Array, sliding: Any, groups: int) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    outputs, depth = w.shape[0] // groups, w[0].size
    tile, frame, window, _, rows = view(
        x.shape[2:], w.shape, y.shape[2:], sliding, outputs, w.dtype
    )
    panels, work = groups * tile.panels(outputs), y.size * depth // PRODUCTS_PER_ELEMENT
    size = panels * rows.size * tile.width
    few = _few_images(x, frame, work)
    by_panel = _is_even(panels, work) and (not few or 4 * size > x.size)
    few = 0 if by_panel else few
    least = window.places.size * (x.shape[0] if few else 1)  # places of a piece
    parts = 1 if by_panel else threads.part_count(least, work)
    sums = scratch.take("sums", (parts * size,), w.dtype)
    kernel = entry("correlate", w.dtype, tile)
    for start, images, seen, planes in _pieces(x, frame, few, parts):
        plan = numbers(
            *(0, images, few, x.shape[1], groups, outputs, 0),
            *(frame, x.shape[2:], by_panel),
        )
        flat = y[start : start + images].reshape(-1)
        arrays = sums, flat, seen, planes, window.places, rows, plan
        units = panels if by_panel else images * window.places.size
        shares = threads.part_count(units, work) if by_panel else parts
        threads.run_ranges(kernel, units, work, *arrays, int(not start), parts=shares)
    collect(w, sums, tile, groups, rows.size, parts)


def collect(
    w: Array, sums: Array, tile: Tile, groups: int, rows: int | None = None, parts: int = 1
) -> None:
    """w = the panels that `pack` would make of it, with some rows each; the sums of several."""
    outputs, depth = w.shape[0] // groups, w[0].size
    result = w if w.flags.c_contiguous else np.empty(w.shape, w.dtype)
    sizes = outputs, depth, depth if rows is None else rows, parts
    _over_panels("collect", tile, groups, outputs, sums.size, result.reshape(-1), sums, *sizes)
    if result is not w:
        w[...] = result


def _is_even(panels: int, work: int) -> bool:
    """Whether the threads get about as many panels each; if not, they share the places.

    Then each has sums of its own, to be added up, but reads and frames its own images only.
    """
    parts = threads.part_count(work, work)
    return -(-panels // parts) * parts <= EVEN * panels


def _over_panels(name: str, tile: Tile, groups: int, outputs: int, work: int, *args: Any) -> None:
    """A kernel that moves panels, shared among the threads."""
    kernel = entry(name, args[0].dtype, tile)
    threads.run_ranges(kernel, groups * tile.panels(outputs), work, *args)


def _few_images(x: Array, frame: Frame, work: int) -> int:
    """How many images a part frames at a time by itself; 0 if all are framed beforehand, or none.

    An image that several parts see is framed by each: there should be few of them.
    """
    count, numel = x.shape[0], x.shape[1] * frame.numel
    parts = threads.part_count(count * numel, work)
    if frame.is_bare or numel > CACHED or (count % parts and count < MANY * parts):
        return 0
    return int(max(1, min(count, CACHED // numel)))


def _pieces(
    x: Array, frame: Frame, few: int, parts: int
) -> Iterator[tuple[int, int, Array, Array]]:
    """(first image, number of images, these as one flat array, room for those framed later)."""
    if few:
        room = parts * few * x.shape[1] * frame.numel
        yield 0, x.shape[0], x.reshape(-1), scratch.take("planes", (room,), x.dtype)
        return
    for start, images, planes in framed(x, frame):
        yield start, images, planes, planes


def framed(x: Array, frame: Frame) -> Iterator[tuple[int, int, Array]]:
    """(first image, number of images, their framed planes as one flat array), chunk by chunk."""
    count, channels = x.shape[:2]
    if frame.is_bare:
        yield 0, count, x.reshape(-1)
        return
    kernel = entry("surround", x.dtype, tile_for(x.dtype, 1))
    step = max(1, min(count, CHUNK // (channels * frame.numel)))
    planes = scratch.take("planes", (step * channels * frame.numel,), x.dtype)
    plan = numbers(0, 0, 0, 0, 0, 0, 0, frame, x.shape[2:], False)
    for start in range(0, count, step):
        flat = x[start : start + step].reshape(-1)
        images = min(step, count - start)
        threads.run_ranges(kernel, images * channels, flat.size, planes, flat, plan)
        yield start, images, planes


def _steps(window: Window, channels: int, numel: int) -> Array:
    """Where the taps of all channels of a group lie from their place."""
    return np.add.outer(np.arange(channels) * numel, window.taps).reshape(-1)


def initial(tile: Tile, bias: Array | None, dtype: Any, groups: int, outputs: int) -> Array:
    """What the sums begin with, for each lane of the panels."""
    added = np.zeros((groups, tile.panels(outputs) * tile.width), dtype)
    if bias is not None:
        added[:, :outputs] = bias.reshape(groups, outputs)
    return added.reshape(-1)


def _empty_panels(tile: Tile, dtype: Any, groups: int, outputs: int, depth: int) -> Array:
    """Panels to be filled; the lanes beyond the outputs are zero."""
    make = np.zeros if outputs % tile.width else np.empty
    return make(groups * tile.panels(outputs) * depth * tile.width, dtype)
