"""Winograd's convolution by kernels of 3 x 3: 16 products for four results in place of 36.

A tile of 4 x 4 elements and a kernel are transformed; the products of the transforms are sums over
channels, sixteen products of matrices; and what is transformed back are 2 x 2 results. All factors
of the transforms are 0, 1 and 1/2 (F(2 x 2, 3 x 3)): errors are at most twice those of a sum of
products, which a test measures. The gradient of the weight takes the transposed transforms of the
same tiles.

Results that are not finite spread over their tile: the kernels say so, and the convolution is made
by its definition.

Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels import scratch, threads
from torchgen_out._runtime.kernels.cpu.conv import implicit
from torchgen_out._runtime.kernels.cpu.conv.winograd_loops import entry
from torchgen_out._runtime.kernels.cpu.matmul.register_tile import Tile, tile_for

Array = Any
CACHED = 3 << 16  # elements of transformed tiles that stay in the second cache
LEAST_TILES = 96  # of a block, for which the weights are read once
FEWEST_TILES, FEWEST_CHANNELS, FEWEST_OUTPUTS = 192, 32, 48
"""With fewer tiles, or channels or outputs of a group, transforms cost what they save."""
MOST_PADDED = 1.5  # elements of tiles for each result: a third of what is saved


class Plan(NamedTuple):
    """How a convolution is cut into blocks of rows of tiles.

    numbers: what the loops read. blocks: how many there are. tiles: how many all images have.
    """

    tile: Tile
    numbers: Array
    blocks: int
    tiles: int


@lru_cache(maxsize=1024)
def plan(
    images: int,
    channels: int,
    sizes: Any,
    outputs: int,
    results: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    dtype: Any,
) -> Plan:
    """The plan for images of `sizes` and results of `results`, two numbers each."""
    tile = tile_for(dtype, outputs)
    down, across = (
        (n + 2 * spread - 1) // (2 * spread) for n, spread in zip(results, dilation, strict=True)
    )
    held = -(-channels // tile.lanes) * tile.lanes
    line = dilation[1] * across
    wanted = max(LEAST_TILES, CACHED // (16 * held))
    units = images * dilation[0] * down
    lines = max(1, min(units, round(wanted / line)))
    tiles = -(-lines * line // tile.rows) * tile.rows
    columns = dilation[1] * (2 * across + 2)
    numbers = (
        *(lines * line, tiles, channels, held, *sizes, *padding, 0, columns),
        *(*dilation, down, across, units, groups, outputs, *results),
    )
    return Plan(tile, np.array(numbers, np.int64), -(-units // lines), units * line)


def suits(y: Array, x: Array, w: Array, sliding: Any, groups: int) -> bool:
    """Whether a convolution is one of 3 x 3 with stride 1, large enough for the transforms."""
    stride = sliding[0]
    if w.shape[2:] != (1, 3, 3) or stride != (1, 1, 1) or x.shape[2] != 1 or y.shape[2] != 1:
        return False
    if y.dtype.kind != "f" or w.shape[1] < FEWEST_CHANNELS:
        return False
    if w.shape[0] // groups < FEWEST_OUTPUTS:
        return False
    tiles = _plan(y, x, sliding, groups).tiles
    return tiles >= FEWEST_TILES and 4 * tiles <= MOST_PADDED * (y.size // y.shape[1])


def _plan(y: Array, x: Array, sliding: Any, groups: int) -> Plan:
    _, padding, dilation = sliding
    return plan(
        *(x.shape[0], x.shape[1], x.shape[3:], y.shape[1] // groups, y.shape[3:]),
        *(padding[1:], dilation[1:], groups, y.dtype),
    )


def convolve(y: Array, x: Array, w: Array, bias: Array | None, sliding: Any, groups: int) -> bool:
    """y = w * x + bias; x (N, C, 1, H, W), w (O, C / groups, 1, 3, 3), both contiguous.

    False, and y has no meaning, if a result is not finite.
    """
    made = _plan(y, x, sliding, groups)
    tile, depth, outputs = made.tile, w.shape[1], w.shape[0] // groups
    sizes = groups, outputs, prod(w.shape[1:])
    packed = implicit.packer("pack", w.dtype, tile, *sizes, *sizes[1:])(w.reshape(-1))
    panels = scratch.take("panels", (packed.size // 9 * 16,), w.dtype)
    count, work = groups * tile.panels(outputs), panels.size
    threads.run_ranges(entry("transform_panels", w.dtype, tile), count, work, panels, packed, depth)
    added = implicit.lane_filler(tile, y.dtype, groups, outputs)(bias)
    result = y if y.flags.c_contiguous else np.empty(y.shape, y.dtype)
    kernel = entry("multiply", y.dtype, tile)
    work = 16 * made.tiles * w.size // (9 * implicit.PRODUCTS_PER_ELEMENT)
    arrays = result.reshape(-1), x.reshape(-1), panels, added, made.numbers
    is_finite = threads.run_ranges(kernel, made.blocks, work, *arrays)
    if result is not y:
        y[...] = result
    return is_finite


def correlate(w: Array, y: Array, x: Array, sliding: Any, groups: int) -> bool:
    """w = the sum over images and places of y times what each tap sees of x.

    False, and w has no meaning, if a result is not finite.
    """
    made = _plan(y, x, sliding, groups)
    tile, depth, outputs = made.tile, w.shape[1], w.shape[0] // groups
    panels, padded = groups * tile.panels(outputs), -(-depth // tile.rows) * tile.rows
    work = 16 * made.tiles * w.size // (9 * implicit.PRODUCTS_PER_ELEMENT)
    parts = threads.part_count(made.blocks, work)
    size = panels * 16 * padded * tile.width
    sums = scratch.take("sums", (parts * size,), w.dtype)
    arrays = sums, y.reshape(-1), x.reshape(-1), made.numbers
    kernel = entry("correlate", w.dtype, tile)
    threads.run_ranges(kernel, made.blocks, work, *arrays, parts=parts)
    packed = scratch.take("panels", (panels * depth * 9 * tile.width,), w.dtype)
    kernel = entry("transform_back", w.dtype, tile)
    is_finite = threads.run_ranges(kernel, panels, size, packed, sums, depth, padded, parts)
    implicit.collect(w.reshape(-1), packed, tile, groups, outputs, 9 * depth, 9 * depth)
    return is_finite
