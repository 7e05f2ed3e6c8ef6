"""Winograd's convolution with 3 x 3 kernels: 2 x 2 results from 16 products instead of 36.

Y = A'[(G w G') * (B' x B)]A per tile of 4 x 4 inputs; the products over the channels are sixteen
matrix products. Tiles overlap by two, so that the planes' phases of stride 2 hold every input of
all tiles as one run.
Source: Lavin, Gray, Fast Algorithms for Convolutional Neural Networks, 2015, F(2 x 2, 3 x 3): its
rounding errors stay within a few of the direct sum's.
"""

# ruff: noqa: F821 - T is a name of the compiled text.

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.kernels import scratch
from runtime.kernels.cpu.planes import fill_planes, lay_out
from runtime.kernels.typed import typed

Array = Any
TILE_ELEMENTS = 1 << 19  # of the transformed tiles held at once
POINTS = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])


def convolve(y: Array, x: Array, w: Array, bias: Array | None, padding: tuple[int, int]) -> None:
    """y = w * x + bias; x (N, C, 1, H, W), w (O, C, 1, 3, 3), contiguous, stride 1."""
    outputs, channels = w.shape[:2]
    dtype = x.dtype
    weights = transform_weights(w)
    added = np.zeros(outputs, dtype) if bias is None else np.ascontiguousarray(bias)
    tiles = ((y.shape[3] + 1) // 2, (y.shape[4] + 1) // 2)
    plan = lay_out(x.shape[2:], (1, 4, 4), (1, *tiles), (1, 2, 2), (0, *padding), (1, 1, 1))
    block = max(64, TILE_ELEMENTS // (16 * (channels + outputs)))
    images = max(1, min(x.shape[0], block // plan.length))
    planes = scratch.zeros("planes", (channels, images * plan.numel), dtype)
    results = scratch.take("sums", (4, outputs, images * plan.length), dtype)
    for image in range(0, x.shape[0], images):
        here = min(images, x.shape[0] - image)
        for i in range(here):
            fill_planes(planes, x[image + i], i * plan.numel, plan.numbers)
        for start, stop in _pieces(here * plan.length, images, block):
            inputs = scratch.take("columns", (16, channels, stop - start), dtype)
            products = scratch.take("products", (16, outputs, stop - start), dtype)
            transform_inputs(inputs, planes, plan.base, plan.numel, plan.length, start)
            np.matmul(weights, inputs, out=products)
            transform_products(results, products, start)
        for i in range(here):
            interleave(y[image + i], results, i * plan.length, added, plan.sizes[2])


def _pieces(count: int, images: int, block: int) -> list[tuple[int, int]]:
    """All tiles of several images at once, or pieces of one image's."""
    if images > 1:
        return [(0, count)]
    return [(start, min(start + block, count)) for start in range(0, count, block)]


def transform_weights(w: Array) -> Array:
    """G w G' of each pair of channels, as (16, O, C): a product with the Kronecker square of G."""
    outputs, channels = w.shape[:2]
    square = np.kron(POINTS, POINTS).astype(w.dtype)
    return np.dot(square, w.reshape(outputs * channels, 9).T).reshape(16, outputs, channels)


@typed
def transform_inputs(inputs, planes, base, numel, length, start):
    """inputs[4 * i + j] = (B' x B)[i, j] of the tiles from `start`, image by image."""
    count = inputs.shape[2]
    for c in range(planes.shape[0]):
        for image in range(start // length, (start + count - 1) // length + 1):
            first = max(start, image * length)
            n = min(start + count, (image + 1) * length) - first
            place = image * numel + first - image * length
            for i in range(4):
                transform_row(inputs, planes, base, c, i, first - start, place, n)


@typed
def transform_row(inputs, planes, base, c, i, target, place, n):
    """Row i of B' x B: with t = x[first] + sign * x[second], t0 - t2, t1 + t2, t2 - t1, t1 - t3."""
    y0, y1 = inputs[4 * i, c, target : target + n], inputs[4 * i + 1, c, target : target + n]
    y2, y3 = inputs[4 * i + 2, c, target : target + n], inputs[4 * i + 3, c, target : target + n]
    first, second = 4 * (0, 1, 2, 1)[i], 4 * (2, 2, 1, 3)[i]
    sign = T(1) if i == 1 else T(-1)
    plane = planes[c]
    a0, a1 = base[first] + place, base[first + 1] + place
    a2, a3 = base[first + 2] + place, base[first + 3] + place
    b0, b1 = base[second] + place, base[second + 1] + place
    b2, b3 = base[second + 2] + place, base[second + 3] + place
    u0, u1, u2, u3 = plane[a0 : a0 + n], plane[a1 : a1 + n], plane[a2 : a2 + n], plane[a3 : a3 + n]
    v0, v1, v2, v3 = plane[b0 : b0 + n], plane[b1 : b1 + n], plane[b2 : b2 + n], plane[b3 : b3 + n]
    for k in range(n):
        t0, t1 = u0[k] + sign * v0[k], u1[k] + sign * v1[k]
        t2, t3 = u2[k] + sign * v2[k], u3[k] + sign * v3[k]
        y0[k] = t0 - t2
        y1[k] = t1 + t2
        y2[k] = t2 - t1
        y3[k] = t1 - t3


@typed
def transform_products(results, products, start):
    """results[2 * i + j] = (A' M A)[i, j] of the tiles from `start`."""
    n = products.shape[2]
    for o in range(products.shape[1]):
        for i in range(2):
            y0 = results[2 * i, o, start : start + n]
            y1 = results[2 * i + 1, o, start : start + n]
            combine_products(y0, y1, products, o, 4 * i, T(1 - 2 * i))


@typed
def combine_products(y0, y1, products, o, first, sign):
    """With s = m[first] + sign * m[first + 4] + sign * m[first + 8] of each column."""
    a0, a1, a2, a3 = (
        products[first, o],
        products[first + 1, o],
        products[first + 2, o],
        products[first + 3, o],
    )
    b0, b1, b2, b3 = (
        products[first + 4, o],
        products[first + 5, o],
        products[first + 6, o],
        products[first + 7, o],
    )
    c0, c1, c2, c3 = (
        products[first + 8, o],
        products[first + 9, o],
        products[first + 10, o],
        products[first + 11, o],
    )
    for k in range(y0.size):
        s0, s1 = a0[k] + sign * (b0[k] + c0[k]), a1[k] + sign * (b1[k] + c1[k])
        s2, s3 = a2[k] + sign * (b2[k] + c2[k]), a3[k] + sign * (b3[k] + c3[k])
        y0[k] = s0 + s1 + s2
        y1[k] = s1 - s2 - s3


@typed
def interleave(y, results, at, bias, width):
    """y[o, 2 * a + i, 2 * b + j] = results[2 * i + j, o, at:] of tile (a, b), plus the bias."""
    for o in range(y.shape[0]):
        added = bias[o]
        for h in range(y.shape[2]):
            start = at + h // 2 * width
            line = y[o, 0, h]
            count = line.size // 2
            first = results[h % 2 * 2, o, start : start + width]
            second = results[h % 2 * 2 + 1, o, start : start + width]
            for i in range(count):
                line[2 * i] = first[i] + added
                line[2 * i + 1] = second[i] + added
            if line.size % 2:
                line[2 * count] = first[count] + added
