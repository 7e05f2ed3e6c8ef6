"""Convolutions whose kernel has one tap: products of matrices, channels by places.

Arrays are (N, C, D, H, W) and (O, C / groups, 1, 1, 1), contiguous. Elements that BLAS knows are
multiplied on register tiles, where they lie; others by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cpu.matmul import tiled
from torchgen_out._runtime.kernels.cpu.matmul.tile_product import product_tile
from torchgen_out._runtime.kernels.cpu.matmul.tiled import Layout, Task

Array = Any


def convolve(y: Array, x: Array, w: Array, bias: Array | None, groups: int) -> None:
    """y = w * x + bias, every place of x being seen."""
    outputs, inputs = w.shape[0] // groups, w.shape[1]
    with dense_result(y) as result:
        _multiply(result, x, w.reshape(groups, outputs, inputs), bias)


def convolve_transposed(x: Array, y: Array, w: Array, groups: int) -> None:
    """x = w' y."""
    matrices = w.reshape(groups, w.shape[0] // groups, w.shape[1]).swapaxes(1, 2)
    with dense_result(x) as result:
        _multiply(result, y, matrices, None)


def correlate(w: Array, y: Array, x: Array, groups: int) -> None:
    """w = the sum over images of y times x, transposed."""
    with dense_result(w) as result:
        _correlate(result, y, x, groups)


@contextmanager
def dense_result(out: Array) -> Iterator[Array]:
    """A contiguous array whose elements will be those of `out`: itself, if it is one."""
    if out.flags.c_contiguous:
        yield out
        return
    result = np.empty(out.shape, out.dtype)
    yield result
    out[...] = result


def _multiply(out: Array, x: Array, matrices: Array, bias: Array | None) -> None:
    """out[n, g] = matrices[g] @ x[n, g] + bias[g], the same value for a row."""
    count, (groups, m, k), places = x.shape[0], matrices.shape, x[0, 0].size
    if out.dtype.kind != "f":
        grouped = x.reshape(count, groups, k, places)
        np.matmul(matrices, grouped, out=out.reshape(count, groups, m, places))
        if bias is not None:
            out += bias.reshape(-1, 1, 1, 1)
        return
    size = out.itemsize
    layout = Layout(matrices.strides[1] // size, matrices.strides[2] // size)
    weights = matrices if layout.step == 1 else matrices.swapaxes(1, 2)
    run = _launch(out.dtype, (count, groups, m, k, places), layout, bias is not None)
    flat = [each.reshape(-1) for each in (out, x, weights)]
    run(*flat, *([] if bias is None else [bias, 0]), 0, 0, None)


def launch(
    y: tuple[int, ...], x: tuple[int, ...], w: tuple[int, ...], dtype: Any, has_bias: bool
) -> Callable[..., None]:
    """run(y, x, w, [bias], *where each begins but y, params) over flat memory, for these sizes and
    elements that BLAS knows."""
    groups = x[1] // w[1]
    sizes = x[0], groups, w[0] // groups, w[1], prod(x[2:])
    return _launch(dtype, sizes, Layout(w[1], 1), has_bias)


def _launch(
    dtype: Any, sizes: tuple[int, int, int, int, int], layout: Layout, has_bias: bool
) -> Callable[..., None]:
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
            before, at_before = np.repeat(bias[at : at + groups * m], width), 0
        else:
            at_x, at_w, _ = rest
        for g in range(groups):
            own = y if groups == 1 else y[g * m * places :]
            at_own = at_before + g * m * width if has_bias else -1
            starts = at_w + g * m * k, at_x + g * k * places, at_own
            multiply(own, w, x, before, *starts, numbers)

    return run


def _correlate(w: Array, y: Array, x: Array, groups: int) -> None:
    """The images one after the other, each added to the sum of those before."""
    outputs, inputs, places = w.shape[0] // groups, w.shape[1], x[0, 0].size
    if w.dtype.kind != "f":
        rows = y.reshape(y.shape[0], groups, outputs, places)
        columns = x.reshape(x.shape[0], groups, inputs, places)
        w[...] = np.matmul(rows, columns.swapaxes(2, 3)).sum(axis=0).reshape(w.shape)
        return
    task = Task(
        *(1, (outputs, inputs, places), Layout(places, 1), Layout(1, places)),
        *(Layout(inputs, 1), Layout(inputs, 1)),
    )
    flat, rows, columns = w.reshape(-1), y.reshape(-1), x.reshape(-1)
    for n in range(x.shape[0]):
        for g in range(groups):
            own = flat[g * outputs * inputs :]
            at_y, at_x = (n * groups + g) * outputs * places, (n * groups + g) * inputs * places
            tiled.multiply(task, own, rows[at_y:], columns[at_x:], own if n else None)
