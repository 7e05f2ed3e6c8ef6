"""Convolution as one matrix product: what each tap sees becomes a row of a matrix of columns.

The rows are copies of runs of the planes, several images side by side, as many as stay in the
cache. The way back adds rows to the planes, which is the gradient with respect to the image.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import scratch
from torchgen_out._runtime.kernels.cpu.conv.planes import (
    Planes,
    empty_planes,
    fill_planes,
    put_results,
    take_results,
)
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.matmul import blas
from torchgen_out._runtime.kernels.typed import typed

Array = Any
COLUMN_ELEMENTS = 1 << 20  # of the columns held at once
WIDEST = 1024  # columns beyond which more images make no product faster


def convolve(y: Array, x: Array, w: Array, bias: Array | None, planes: Planes, groups: int) -> None:
    """y = w * x + bias; x (N, C, D, H, W), w (O, C / groups, KD, KH, KW), both contiguous."""
    weights = _weights(w, groups)
    added = np.zeros(w.shape[0], y.dtype) if bias is None else contiguous(bias)
    block = _Block(x, w, planes, groups)
    sums = scratch.take("sums", (w.shape[0], block.images * planes.length), y.dtype)
    for start in range(0, x.shape[0], block.images):
        count = min(block.images, x.shape[0] - start)
        block.fill(x[start : start + count])
        blas.batched(sums.reshape(groups, w.shape[0] // groups, -1), weights, block.matrix)
        for i in range(count):
            take_results(y[start + i], sums, 0, i * planes.length, added, *planes.row)


def convolve_transposed(x: Array, y: Array, w: Array, planes: Planes, groups: int) -> None:
    """x = the gradient that y sends back through w."""
    weights = _weights(w, groups).transpose(0, 2, 1)
    block = _Block(x, w, planes, groups)
    rows = scratch.zeros("sums", (w.shape[0], block.images * planes.length), y.dtype)
    grouped = rows.reshape(groups, w.shape[0] // groups, -1)
    for start in range(0, x.shape[0], block.images):
        count = min(block.images, x.shape[0] - start)
        for i in range(count):
            put_results(rows, y[start + i], i * planes.length, *planes.row)
        blas.batched(block.matrix, weights, grouped)
        block.planes.fill(0)
        add_columns(block.planes, block.columns, planes.base, planes.numel, planes.length)
        for i in range(count):
            empty_planes(x[start + i], block.planes, i * planes.numel, planes.numbers)


def correlate(w: Array, y: Array, x: Array, planes: Planes, groups: int) -> None:
    """w = the sum over images and places of y times what each tap sees of x."""
    block = _Block(x, w, planes, groups)
    rows = scratch.zeros("sums", (w.shape[0], block.images * planes.length), y.dtype)
    grouped = rows.reshape(groups, w.shape[0] // groups, -1)
    result = w.reshape(groups, w.shape[0] // groups, -1)
    result.fill(0)
    for start in range(0, x.shape[0], block.images):
        count = min(block.images, x.shape[0] - start)
        block.fill(x[start : start + count])
        for i in range(count):
            put_results(rows, y[start + i], i * planes.length, *planes.row)
        rows[:, count * planes.length :] = 0
        blas.batched(result, grouped, block.matrix.transpose(0, 2, 1), 1, 1)


def _weights(w: Array, groups: int) -> Array:
    return w.reshape(groups, w.shape[0] // groups, -1)


class _Block:
    """Planes and columns of some images: columns[c * taps + t] holds a run of plane c of each."""

    def __init__(self, x: Array, w: Array, planes: Planes, groups: int) -> None:
        rows = x.shape[1] * prod(w.shape[2:])
        fitting = min(COLUMN_ELEMENTS // (rows * planes.length), WIDEST // planes.length)
        self.images = max(1, min(x.shape[0], fitting))
        self.geometry = planes
        self.planes = scratch.zeros("planes", (x.shape[1], self.images * planes.numel), x.dtype)
        shape = (rows, self.images * planes.length)
        self.columns = scratch.take("columns", shape, x.dtype)
        self.matrix = self.columns.reshape(groups, rows // groups, -1)

    def fill(self, x: Array) -> None:
        """Take some images."""
        plan = self.geometry
        for i in range(x.shape[0]):
            fill_planes(self.planes, x[i], i * plan.numel, plan.numbers)
        copy_columns(self.columns, self.planes, plan.base, plan.numel, plan.length)


@typed
def copy_columns(columns, planes, base, numel, length):
    """columns[c * taps + t] = the runs of plane c that tap t sees, image by image."""
    for c in range(planes.shape[0]):
        for t in range(base.size):
            column = columns[c * base.size + t]
            for i in range(column.size // length):
                first = i * numel + base[t]
                run = planes[c, first : first + length]
                target = column[i * length : (i + 1) * length]
                for k in range(length):
                    target[k] = run[k]


@typed
def add_columns(planes, columns, base, numel, length):
    """The runs of plane c that tap t sees += columns[c * taps + t]."""
    for c in range(planes.shape[0]):
        for t in range(base.size):
            column = columns[c * base.size + t]
            for i in range(column.size // length):
                first = i * numel + base[t]
                run = planes[c, first : first + length]
                source = column[i * length : (i + 1) * length]
                for k in range(length):
                    run[k] += source[k]
