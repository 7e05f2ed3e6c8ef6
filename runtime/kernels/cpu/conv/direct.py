"""Convolution without columns: tiles of taps are added up in registers, run by run.

A tile adds up to nine taps of a plane to two results (fewer taps to more results): 18 multiply-adds
per 11 loads, which keeps the arithmetic busy at some 80 % of OpenBLAS's peak, without its copies
(`benchmarks/cases/convolution.py`). The tiles' texts are generated, since LLVM keeps weights in
registers only if they are separate variables.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.conv.planes import (
    Planes,
    fill_planes,
    put_results,
    take_results,
)
from torchgen_out._runtime.kernels.cpu.folding import contiguous

Array = Any
MOST_TAPS = 9
MOST_PRODUCTS, MOST_RESULTS = 18, 6  # of a tile: its weights stay in registers
CACHED_ELEMENTS = 1 << 17  # of the planes' part that is read again for each pair of results
SHORT_RUN, LONG_RUN = 512, 2048  # below the one, images are joined up to the other


def convolve(y: Array, x: Array, w: Array, bias: Array | None, planes: Planes, groups: int) -> None:
    """y = w * x + bias; x (N, C, D, H, W), w (O, C / groups, KD, KH, KW), both contiguous."""
    outputs = w.shape[0] // groups
    taps = prod(w.shape[2:])
    weights = w.reshape(groups, outputs, w.shape[1], taps).transpose(0, 2, 1, 3)
    weights = contiguous(weights)
    added = np.zeros(w.shape[0], y.dtype) if bias is None else contiguous(bias)
    block = max(256, CACHED_ELEMENTS // w.shape[1] // 16 * 16)
    kernel = build.compile_text(f"convolve_{taps}", convolve_text(taps))
    arguments = (y, x, weights, added, *_geometry(planes, x.shape[0]), block)
    threads.run_ranges(kernel, x.shape[0], y.size * w[0].size, *arguments)


def correlate(w: Array, y: Array, x: Array, planes: Planes, groups: int) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    outputs = w.shape[0] // groups
    taps = prod(w.shape[2:])
    kernel = build.compile_text(f"correlate_{taps}", correlate_text(taps))
    parts = threads.part_count(x.shape[0], y.size * w[0].size)
    sums = np.zeros((parts, groups, outputs, w.shape[1], taps), w.dtype)
    arguments = (sums, y, x, *_geometry(planes, x.shape[0]), 4096)
    threads.run_ranges(kernel, x.shape[0], y.size * w[0].size, *arguments, parts=parts)
    w[...] = sums.sum(axis=0).reshape(w.shape)


def _geometry(planes: Planes, images: int) -> tuple[Any, ...]:
    """What both kernels take; short runs of several images are joined, and what lies between."""
    joined = max(1, min(images, LONG_RUN // planes.numel)) if planes.length < SHORT_RUN else 1
    return planes.base, np.array(planes.numbers), planes.numel, planes.length, joined


# Texts.

CONVOLVE = '''\
@entry
def kernel(first, last, y, x, w, bias, base, numbers, numel, length, images, block):
    """y[n] = the convolution of x[n], for the images n from first to last, `images` at a time."""
    groups, channels, outputs = w.shape[0], w.shape[1], w.shape[2]
    planes = np.zeros((x.shape[1], images * numel), x.dtype)
    total = (images - 1) * numel + length
    sums = np.empty((outputs, total), x.dtype)
    for n in range(first, last, images):
        here = min(images, last - n)
        for i in range(here):
            fill_planes(planes, x[n + i], i * numel, numbers)
        for g in range(groups):
            sums[:] = 0
            for start in range(0, total, block):
                stop = min(start + block, total)
                for o in range(0, outputs - outputs % {results}, {results}):
                    for c in range(channels):
{several}
                for o in range(outputs - outputs % {results}, outputs):
                    for c in range(channels):
{singles}
            for i in range(here):
                take_results(
                    y[n + i], sums, g * outputs, i * numel, bias, numbers[7], numbers[8]
                )
'''

CORRELATE = '''\
@entry
def kernel(part, first, last, parts, y, x, base, numbers, numel, length, images, block):
    """parts[part] += the products of y[n] and x[n], for the images n from first to last."""
    groups, outputs, channels = parts.shape[1], parts.shape[2], parts.shape[3]
    planes = np.zeros((x.shape[1], images * numel), x.dtype)
    total = (images - 1) * numel + length
    sums = np.zeros((y.shape[1], total), x.dtype)
    w = parts[part]
    for n in range(first, last, images):
        here = min(images, last - n)
        for i in range(here):
            fill_planes(planes, x[n + i], i * numel, numbers)
            put_results(sums, y[n + i], i * numel, numbers[7], numbers[8])
        sums[:, (here - 1) * numel + length :] = 0
        for start in range(0, total, block):
            stop = min(start + block, total)
            for g in range(groups):
                for o in range(0, outputs - outputs % {results}, {results}):
                    for c in range(channels):
{several}
                for o in range(outputs - outputs % {results}, outputs):
                    for c in range(channels):
{singles}
'''

OPTIONS = """\
options = {**options, "fastmath": {"reassoc", "nsz", "contract"}}
inner = njit(no_cpython_wrapper=True, **options)
entry = njit(**options)
"""
HELPERS = (fill_planes, put_results, take_results)
INDENT = " " * 24
CHANNELS = {"o": "w.shape[1]", "g * w.shape[1] + o": "w.shape[2]"}


def chunks(taps: int) -> list[tuple[int, int]]:
    """(first tap, number of taps) of each tile: as few as possible, of nearly equal size."""
    count = -(-taps // MOST_TAPS)
    edges = [taps * i // count for i in range(count + 1)]
    return [(a, b - a) for a, b in pairwise(edges)]


@cache
def convolve_text(taps: int) -> str:
    """The text of `convolve` for one number of taps."""
    call = "sums, planes, w, base, g, o, c, start, stop"
    return _text("convolve", taps, _add_tile, CONVOLVE, call)


@cache
def correlate_text(taps: int) -> str:
    """The text of `correlate` for one number of taps."""
    call = "sums, planes, w, base, g, o, c, start, stop"
    return _text("correlate", taps, _sum_tile, CORRELATE, call)


def _text(name: str, taps: int, tile: Any, driver: str, call: str) -> str:
    pieces = chunks(taps)
    sizes = sorted({n for _, n in pieces})
    results = min(MOST_RESULTS, MOST_PRODUCTS // sizes[-1])
    header = build.HEADER.format(title=f"{name}: {taps} taps.") + OPTIONS
    helpers = "\n\n".join("@inner\n" + build.plain_source(f.function) for f in HELPERS)
    tiles = [tile(size, count) for size in sizes for count in sorted({1, results})]
    singles, several = (
        "\n".join(f"{INDENT}tile_{n}_{count}({call}, {first})" for first, n in pieces)
        for count in (1, results)
    )
    body = driver.format(singles=singles, several=several, results=results)
    return "\n\n".join([header, helpers, *tiles, body])


def _add_tile(taps: int, results: int) -> str:
    """y[o + r] += w[o + r, t] * x[c] shifted to tap t, over one run: weights in registers."""
    lines = [f"    weight{r}_{t} = w[g, c, o + {r}, tap + {t}]" for r, t in _pairs(taps, results)]
    lines += ["    for i in range(n):", *(f"        v{t} = x{t}[i]" for t in range(taps))]
    for r in range(results):
        products = " + ".join(f"weight{r}_{t} * v{t}" for t in range(taps))
        lines.append(f"        y{r}[i] += {products}")
    return _tile(taps, results, "o", lines)


def _sum_tile(taps: int, results: int) -> str:
    """w[o + r, c, t] += the dot product of y[o + r] and x[c] shifted to tap t."""
    lines = [f"    sum{r}_{t} = y0.dtype.type(0)" for r, t in _pairs(taps, results)]
    lines += ["    for i in range(n):", *(f"        v{t} = x{t}[i]" for t in range(taps))]
    lines += [f"        sum{r}_{t} += y{r}[i] * v{t}" for r, t in _pairs(taps, results)]
    lines += [f"    w[g, o + {r}, c, tap + {t}] += sum{r}_{t}" for r, t in _pairs(taps, results)]
    return _tile(taps, results, "g * w.shape[1] + o", lines)


def _tile(taps: int, results: int, row: str, body: list[str]) -> str:
    """A tile around its arithmetic: the rows `y0 ...` and each tap's run of the plane."""
    lines = [
        "@inner",
        f"def tile_{taps}_{results}(rows, planes, w, base, g, o, c, start, stop, tap):",
        "    n = stop - start",
        f"    plane = planes[g * {CHANNELS[row]} + c]",
    ]
    lines += [f"    y{r} = rows[{row} + {r}, start:stop]" for r in range(results)]
    for t in range(taps):
        lines.append(f"    p{t} = base[tap + {t}] + start")
        lines.append(f"    x{t} = plane[p{t} : p{t} + n]")
    return "\n".join(lines + body) + "\n"


def _pairs(taps: int, results: int) -> list[tuple[int, int]]:
    return [(r, t) for r in range(results) for t in range(taps)]
