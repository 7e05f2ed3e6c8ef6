"""Convolutions as products whose columns are never written: elements are found by offsets.

All three products of a convolution are sums of x[row + step] * panel[step, n] with the tiles of
`register_tile`. For the result and for the gradient of the image, rows are places, steps the taps
of all channels, and the panel holds weights; for the gradient of the weight, rows are the taps,
steps the places, and the panel holds the gradient of the result. Strides, dilation, and one to
three dims are a matter of the offsets (`windows`). The loops are in `implicit_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import scratch, threads
from torchgen_out._runtime.kernels.cpu.conv.implicit_loops import entry
from torchgen_out._runtime.kernels.cpu.conv.launches import Run, Sizes
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


class Product(NamedTuple):
    """What a window sees, and what lays out the weights that it is multiplied by."""

    window: Window
    steps: Array
    pack: Callable[[Array], Array]


def launch(
    y: Sizes, x: Sizes, w: Sizes, dtype: Any, has_bias: bool, sliding: Any, groups: int
) -> Run:
    """run(y, x, w, [bias], *where each begins but y, params) over flat memory, for these sizes."""
    outputs, depth = w[0] // groups, prod(w[1:])
    tile, frame, window, steps, _ = view(x[2:], w, y[2:], sliding, outputs, dtype)
    pack = packer("pack", dtype, tile, groups, outputs, depth, outputs, depth)
    return _launch(y, x, dtype, has_bias, groups, frame, [Product(window, steps, pack)])


def launch_transposed(
    x: Sizes, y: Sizes, w: Sizes, dtype: Any, has_bias: bool, sliding: Any, groups: int
) -> Run:
    """run(x, y, w, [bias], *where each begins but x, params), the same for the way back."""
    frame, windows = see_back(x[2:], w[2:], y[2:], *sliding)
    inputs, outputs = w[0] // groups, w[1]
    tile = tile_for(dtype, outputs)
    products = []
    for window in windows:
        depth, sizes = inputs * window.taps.size, (window.chosen, inputs, outputs, prod(w[2:]))
        pack = packer("pack_back", dtype, tile, groups, outputs, depth, *sizes)
        products.append(Product(window, _steps(window, inputs, frame.numel), pack))
    return _launch(x, y, dtype, has_bias, groups, frame, products)


def _launch(
    y: Sizes,
    x: Sizes,
    dtype: Any,
    has_bias: bool,
    groups: int,
    frame: Frame,
    products: Sequence[Product],
) -> Run:
    """y = the products of x with the weights of each window, at its targets."""
    outputs, image = y[1] // groups, prod(y[1:])
    tile, most, few = tile_for(dtype, outputs), threads.get_num_threads(), 0
    has_gaps = not all(each.steps.size for each in products)
    products = [each for each in products if each.steps.size and each.window.places.size]
    if len(products) == 1:
        few = _few_images(x, frame, prod(y) * products[0].steps.size // PRODUCTS_PER_ELEMENT)
    frames = Frames(x, frame, few, most, dtype)
    pieces = [
        (start, images, [_call(each, y, x, images, few, groups, frame, tile) for each in products])
        for start, images in frames.pieces
    ]
    kernel, packs = entry("multiply", dtype, tile), [each.pack for each in products]
    spread, shape = lane_filler(tile, dtype, groups, outputs), (*y[:2], prod(y[2:]))

    def run(y: Array, x: Array, w: Array, *rest: Any) -> None:
        if has_bias:
            bias, at_x, at_w, at, _ = rest
            bias = bias[at : at + groups * outputs]
        else:
            bias, (at_x, at_w, _) = None, rest
        if has_gaps:
            y[: prod(shape)].reshape(shape)[...] = 0 if bias is None else bias[:, None]
        panels, added = [pack(w[at_w:]) for pack in packs], spread(bias)
        room = frames.take()
        for start, images, calls in pieces:
            own, seen = y[start * image :], frames.fill(room, x, at_x, start, images)
            for (blocks, work, parts, found), those in zip(calls, panels, strict=True):
                arrays = own, seen, seen if room is None else room, those, added, *found
                if parts == 1:
                    kernel(0, 0, blocks, *arrays)
                else:
                    threads.run_ranges(kernel, blocks, work, *arrays, parts=parts)

    return run


def _call(
    product: Product,
    y: Sizes,
    x: Sizes,
    images: int,
    few: int,
    groups: int,
    frame: Frame,
    tile: Tile,
) -> tuple[int, int, int, tuple[Any, ...]]:
    """The blocks of rows of a product for so many images, the work, the parts, and what it sees."""
    window, steps, _ = product
    rows = images * window.places.size
    work = rows * y[1] * steps.size // PRODUCTS_PER_ELEMENT
    blocks, block = _blocks(rows, work, tile)
    sizes = block, images, few, x[1], groups, y[1] // groups, prod(y[2:])
    found = window.places, steps, window.targets, numbers(*sizes, frame, x[2:], False)
    return blocks, work, threads.part_count(blocks, work), found


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


def launch_correlate(w: Sizes, y: Sizes, x: Sizes, dtype: Any, sliding: Any, groups: int) -> Run:
    """w = the sum over images and places of y times what each tap sees of x."""
    outputs, depth = w[0] // groups, prod(w[1:])
    tile, frame, window, _, rows = view(x[2:], w, y[2:], sliding, outputs, dtype)
    panels, work = groups * tile.panels(outputs), prod(y) * depth // PRODUCTS_PER_ELEMENT
    size, numel = panels * rows.size * tile.width, prod(y[1:])
    few = _few_images(x, frame, work)
    by_panel = _is_even(panels, work) and (not few or 4 * size > prod(x))
    few = 0 if by_panel else few
    least = window.places.size * (x[0] if few else 1)  # places of a piece
    parts = 1 if by_panel else threads.part_count(least, work)
    kernel, frames, pieces = (
        entry("correlate", dtype, tile),
        Frames(x, frame, few, parts, dtype),
        [],
    )
    for start, images in frames.pieces:
        sizes = 0, images, few, x[1], groups, outputs, 0
        found = window.places, rows, numbers(*sizes, frame, x[2:], by_panel), int(not start)
        units = panels if by_panel else images * window.places.size
        shares = threads.part_count(units, work) if by_panel else parts
        pieces.append((start, images, units, shares, found))

    def run(w: Array, y: Array, x: Array, at_y: int, at_x: int, params: Any) -> None:
        sums, room = scratch.take("sums", (parts * size,), dtype), frames.take()
        for start, images, units, shares, found in pieces:
            seen = frames.fill(room, x, at_x, start, images)
            arrays = sums, y[at_y + start * numel :], seen, seen if room is None else room
            threads.run_ranges(kernel, units, work, *arrays, *found, parts=shares)
        collect(w, sums, tile, groups, outputs, depth, rows.size, parts)

    return run


def collect(
    w: Array,
    sums: Array,
    tile: Tile,
    groups: int,
    outputs: int,
    depth: int,
    rows: int,
    parts: int = 1,
) -> None:
    """w = the panels that `pack` would make of it, with some rows each; the sums of several."""
    kernel, count = entry("collect", sums.dtype, tile), groups * tile.panels(outputs)
    threads.run_ranges(kernel, count, sums.size, w, sums, outputs, depth, rows, parts)


def _is_even(panels: int, work: int) -> bool:
    """Whether the threads get about as many panels each; if not, they share the places.

    Then each has sums of its own, to be added up, but reads and frames its own images only.
    """
    parts = threads.part_count(work, work)
    return -(-panels // parts) * parts <= EVEN * panels


def packer(
    name: str, dtype: Any, tile: Tile, groups: int, outputs: int, depth: int, *sizes: Any
) -> Callable[[Array], Array]:
    """pack(w): panels of weights, (groups, panels, depth, width of the tile), as one vector."""
    kernel, count = entry(name, dtype, tile), groups * tile.panels(outputs)
    make = np.zeros if outputs % tile.width else np.empty  # lanes beyond the outputs are zero
    numel = count * depth * tile.width
    is_short = numel < 2 * threads.GRAIN

    def pack(w: Array) -> Array:
        panels = make(numel, dtype)
        if is_short:
            kernel(0, count, panels, w, *sizes)
        else:
            threads.run_ranges(kernel, count, numel, panels, w, *sizes)
        return panels

    return pack


def _few_images(x: Sizes, frame: Frame, work: int) -> int:
    """How many images a part frames at a time by itself; 0 if all are framed beforehand, or none.

    An image that several parts see is framed by each: there should be few of them.
    """
    count, numel = x[0], x[1] * frame.numel
    parts = threads.part_count(count * numel, work)
    if frame.is_bare or numel > CACHED or (count % parts and count < MANY * parts):
        return 0
    return int(max(1, min(count, CACHED // numel)))


class Frames:
    """The framed images of `x`, in pieces: (first image, number of images).

    few: how many a part frames at a time by itself, of so many parts, or 0.
    """

    def __init__(self, x: Sizes, frame: Frame, few: int, parts: int, dtype: Any) -> None:
        count, self.channels, step = x[0], x[1], x[0]
        self.dtype, self.plane = dtype, prod(x[2:])
        self.is_apart = not (frame.is_bare or few)
        self.room = 0 if frame.is_bare else parts * few * self.channels * frame.numel
        if self.is_apart:
            step = max(1, min(count, CHUNK // (self.channels * frame.numel)))
            self.room = step * self.channels * frame.numel
            self.surround = entry("surround", dtype, tile_for(dtype, 1))
            self.plan = numbers(0, 0, 0, 0, 0, 0, 0, frame, x[2:], False)
        self.pieces = [(start, min(step, count - start)) for start in range(0, count, step)]

    def take(self) -> Array | None:
        """Room for what is framed."""
        return scratch.take("planes", (self.room,), self.dtype) if self.room else None

    def fill(self, room: Array | None, x: Array, at: int, start: int, images: int) -> Array:
        """The memory of a piece's images: framed, unless they need none, or parts do that."""
        seen = x[at + start * self.channels * self.plane :]
        if not self.is_apart:
            return seen
        count = images * self.channels
        threads.run_ranges(self.surround, count, count * self.plane, room, seen, self.plan)
        return room


def _steps(window: Window, channels: int, numel: int) -> Array:
    """Where the taps of all channels of a group lie from their place."""
    return np.add.outer(np.arange(channels) * numel, window.taps).reshape(-1)


def lane_filler(
    tile: Tile, dtype: Any, groups: int, outputs: int
) -> Callable[[Array | None], Array]:
    """spread(bias): what the sums begin with, for each lane of the panels."""
    width = tile.panels(outputs) * tile.width
    nothing = np.zeros(groups * width, dtype)

    def spread(bias: Array | None) -> Array:
        if bias is None or width == outputs:
            return nothing if bias is None else bias
        added = np.zeros((groups, width), dtype)
        added[:, :outputs] = bias.reshape(groups, outputs)
        return added.reshape(-1)

    return spread
