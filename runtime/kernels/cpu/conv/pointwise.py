"""Convolutions whose kernel has one tap: products of matrices, channels by places.

Arrays are (N, C, D, H, W) and (O, C / groups, 1, 1, 1), contiguous. Elements that BLAS knows are
multiplied on register tiles, where they lie; others image by image.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.cpu.conv.launches import Run, Sizes
from torchgen_out._runtime.kernels.cpu.matmul import blas, tiled
from torchgen_out._runtime.kernels.cpu.matmul.tile_product import product_tile
from torchgen_out._runtime.kernels.cpu.matmul.tiled import Layout, Task

Array = Any


def convolve(y: Array, x: Array, w: Array, bias: Array | None, groups: int) -> None:
    """y = w * x + bias, every place of x being seen."""
    _multiply(y, x, w.reshape(groups, w.shape[0] // groups, w.shape[1]), bias)


def convolve_transposed(x: Array, y: Array, w: Array, groups: int) -> None:
    """x = w' y."""
    _multiply(x, y, w.reshape(groups, w.shape[0] // groups, w.shape[1]).swapaxes(1, 2), None)


def _multiply(out: Array, x: Array, matrices: Array, bias: Array | None) -> None:
    """out[n, g] = matrices[g] @ x[n, g] + bias[g], the same value for a row."""
    count, (groups, m, k), places = x.shape[0], matrices.shape, x[0, 0].size
    made = out.reshape(count, groups, m, places)
    for own, image in zip(made, x.reshape(count, groups, k, places), strict=True):
        blas.batched(own, matrices, image)
    if bias is not None:
        out += bias.reshape(-1, 1, 1, 1)


def correlate(w: Array, y: Array, x: Array, groups: int) -> None:
    """w = the sum over images of y times x, transposed."""
    places = x[0, 0].size
    rows = y.reshape(y.shape[0], groups, -1, places)
    columns = x.reshape(x.shape[0], groups, -1, places)
    made = w.reshape(groups, -1, w.shape[1])
    for i, (row, column) in enumerate(zip(rows, columns, strict=True)):
        blas.batched(made, row, column.swapaxes(1, 2), 1, int(i > 0))


# Of elements that BLAS knows, over flat memory.


def launch(y: Sizes, x: Sizes, w: Sizes, dtype: Any, has_bias: bool, groups: int) -> Run:
    """y = w * x + bias, for these sizes."""
    sizes = x[0], groups, w[0] // groups, w[1], prod(x[2:])
    return _launch(dtype, sizes, Layout(w[1], 1), has_bias)


def launch_transposed(x: Sizes, y: Sizes, w: Sizes, dtype: Any, has_bias: bool, groups: int) -> Run:
    """x = w' y + bias, for these sizes."""
    sizes = y[0], groups, w[1], w[0] // groups, prod(y[2:])
    return _launch(dtype, sizes, Layout(1, w[1]), has_bias)


def _launch(
    dtype: Any, sizes: tuple[int, int, int, int, int], layout: Layout, has_bias: bool
) -> Run:
    """The same; sizes: images, groups, outputs and inputs of these, places. layout: of weights."""
    count, groups, m, k, places = sizes
    width = product_tile(dtype).width
    task = Task(
        *(count, (m, places, k), layout, Layout(places, 1, groups * k * places)),
        *(Layout(places, 1, groups * m * places), Layout(width, 0)),
    )
    multiply, numbers = tiled.launch(task, dtype), task.numbers()

    def run(y: Array, x: Array, w: Array, *rest: Any) -> None:
        before, at_before = x, -1
        if has_bias:
            bias, at_x, at_w, at, _ = rest
            before, at_before = bias[at : at + groups * m].repeat(width), 0
        else:
            at_x, at_w, _ = rest
        for g in range(groups):
            own = y if groups == 1 else y[g * m * places :]
            at_own = at_before + g * m * width if has_bias else -1
            starts = at_w + g * m * k, at_x + g * k * places, at_own
            multiply(own, w, x, before, *starts, numbers)

    return run


def launch_correlate(w: Sizes, y: Sizes, x: Sizes, dtype: Any, groups: int) -> Run:
    """w = the sum over images of y times x, transposed: each image added to those before."""
    outputs, inputs, places = w[0] // groups, w[1], prod(x[2:])
    task = Task(
        *(1, (outputs, inputs, places), Layout(places, 1), Layout(1, places)),
        *(Layout(inputs, 1), Layout(inputs, 1)),
    )
    multiply, numbers, own = tiled.launch(task, dtype), task.numbers(), outputs * inputs
    steps = [
        ((n * groups + g) * outputs * places, (n * groups + g) * inputs * places, g * own, n > 0)
        for n in range(x[0])
        for g in range(groups)
    ]

    def run(w: Array, y: Array, x: Array, at_y: int, at_x: int, params: Any) -> None:
        for to_y, to_x, at, is_added in steps:
            result = w[at:] if at else w
            multiply(result, y, x, result, at_y + to_y, at_x + to_x, is_added - 1, numbers)

    return run
