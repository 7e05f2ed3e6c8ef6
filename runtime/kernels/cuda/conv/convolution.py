"""Convolutions on CUDA: three products, each by cuDNN or by one kernel (`lattice_product`).

Every convolution is seen with three spatial dims (depth, height, width); missing ones have size 1.
A transposed convolution is the gradient of a convolution with respect to its input, and its
gradients are convolutions, so that three products serve all. A kernel with one tap is a batch of
matrix products, which is cuBLASLt's.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of
from torchgen_out._runtime.kernels.cuda.conv import lattice_product
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import (
    FORWARD,
    INPUT,
    WEIGHT,
    described,
    seen,
)
from torchgen_out._runtime.kernels.cuda.conv.lattice_product import SIDE, TILE_N, Form
from torchgen_out._runtime.kernels.cuda.direct import LibraryQueue as Queue
from torchgen_out._runtime.kernels.cuda.direct import direct, turned
from torchgen_out._runtime.kernels.cuda.loops.pointwise import divisor
from torchgen_out._runtime.kernels.cuda.matmul.matrix_plans import multiply
from torchgen_out._runtime.kernels.cuda.queue import Array, contiguous

NARROW_NUMEL = 1 << 30
"""Elements that 32 bits count, with room for what lies beyond an edge."""
ROWS = 4
"""Rows of a thread where a group has more channels than SIDE; one otherwise."""
BLOCKS_WANTED = 2
"""Blocks per multiprocessor below which a sum is cut into slices."""
LEAST_OF_SLICE = 256
"""Elements of a slice's sum: fewer are not worth another kernel."""


@direct
def convolution(
    queue: Queue,
    out: Array,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> None:
    """Write the convolution, or the transposed one, plus the bias of each channel."""
    windows = input.sizes if transposed else out.sizes
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    function = product_transposed if transposed else product
    bias = None if bias is None else contiguous(queue, bias)
    function(queue, spatial(out), _laid(queue, input), _laid(queue, weight), bias, geometry)


@direct
def convolution_grad_weight(
    queue: Queue,
    out: Array,
    grad_output: Array,
    input: Array,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> None:
    """Write the gradient of a convolution with respect to its weight."""
    windows = input.sizes if transposed else grad_output.sizes
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    dy, x = _laid(queue, grad_output), _laid(queue, input)
    if transposed:
        dy, x = x, dy
    product_weight(queue, spatial(out), dy, x, geometry)


def spatial(x: Array) -> Array:
    """An array with three spatial dims."""
    sizes, strides, _ = seen(x.sizes, x.strides)
    return Array(x.address, x.dtype, sizes, strides)


def _laid(queue: Queue, x: Array) -> Array:
    """An array with three spatial dims: as it lies, its channels before the places or after them,
    or else copied."""
    sizes, strides, is_laid = seen(x.sizes, x.strides)
    if not is_laid:
        return spatial(contiguous(queue, x))
    return Array(x.address, x.dtype, sizes, strides)


# The three products. x: (N, C, D, H, W); w: (O, C / groups, KD, KH, KW); y: (N, O, OD, OH, OW).


def product(
    queue: Queue, y: Array, x: Array, w: Array, bias: Array | None, geometry: Geometry
) -> None:
    """y = w * x + bias: rows are outputs, columns places of y, the sum is over inputs and taps."""
    if _is_matrix_product(w, geometry):
        _multiply_places(queue, y, x, _rows(w), bias)
        return
    if _by_library(queue, FORWARD, (x, w, y), bias, geometry):
        return
    x, w = (contiguous(queue, each) for each in (x, w))
    groups, inputs, taps = geometry.groups, w.sizes[1], prod(w.sizes[2:])
    outputs, places, volume = w.sizes[0] // groups, prod(y.sizes[2:]), prod(x.sizes[2:])
    numbers = {
        "m": outputs, "n": y.sizes[0] * places, "k": inputs * taps,
        "a_group": outputs * inputs * taps, "a_row": inputs * taps, "a_outer": taps,
        "b_group": inputs * volume, "b_n": x.sizes[1] * volume, "b_k": volume,
        "out_group": outputs * places, "out_row": places, "out_outer": y.sizes[1] * places,
    }  # fmt: skip
    numbers |= _lattice("n", y.sizes[2:]) | _lattice("k", w.sizes[2:])
    start = [-p for p in geometry.padding]
    numbers |= _steps(geometry.stride, geometry.dilation, start, x.sizes[2:])
    _run(queue, y, w, x, bias, groups, numbers)


def product_transposed(
    queue: Queue, x: Array, y: Array, w: Array, bias: Array | None, geometry: Geometry
) -> None:
    """x = the gradient that y sends back through w, plus bias: rows are inputs, columns places of
    x, the sum is over outputs and taps."""
    if _is_matrix_product(w, geometry) and x.sizes[2:] == y.sizes[2:]:
        _multiply_places(queue, x, y, turned(_rows(w)), bias)
        return
    if _by_library(queue, INPUT, (x, w, y), bias, geometry):
        return
    y, w = (contiguous(queue, each) for each in (y, w))
    groups, inputs, taps = geometry.groups, w.sizes[1], prod(w.sizes[2:])
    outputs, places, volume = w.sizes[0] // groups, prod(y.sizes[2:]), prod(x.sizes[2:])
    numbers = {
        "m": inputs, "n": x.sizes[0] * volume, "k": outputs * taps,
        "a_group": outputs * inputs * taps, "a_row": taps, "a_outer": inputs * taps,
        "b_group": outputs * places, "b_n": y.sizes[1] * places, "b_k": places,
        "out_group": inputs * volume, "out_row": volume, "out_outer": x.sizes[1] * volume,
    }  # fmt: skip
    numbers |= _lattice("n", x.sizes[2:]) | _lattice("k", w.sizes[2:])
    back = [-d for d in geometry.dilation]
    numbers |= _steps((1, 1, 1), back, geometry.padding, y.sizes[2:])
    for dim, step in zip(lattice_product.DIMS, geometry.stride, strict=True):
        numbers |= _divisor(f"over_{dim}", step)
    _run(queue, x, w, y, bias, groups, numbers)


def product_weight(queue: Queue, w: Array, y: Array, x: Array, geometry: Geometry) -> None:
    """w = the sum over images and places of y times what each tap sees of x: rows are outputs,
    columns inputs and taps."""
    if _by_library(queue, WEIGHT, (x, w, y), None, geometry):
        return
    y, x = (contiguous(queue, each) for each in (y, x))
    groups, inputs, taps = geometry.groups, w.sizes[1], prod(w.sizes[2:])
    outputs, places, volume = w.sizes[0] // groups, prod(y.sizes[2:]), prod(x.sizes[2:])
    numbers = {
        "m": outputs, "n": inputs * taps, "k": y.sizes[0] * places,
        "a_group": outputs * places, "a_row": places, "a_outer": y.sizes[1] * places,
        "b_group": inputs * volume, "b_n": volume, "b_k": x.sizes[1] * volume,
        "out_group": outputs * inputs * taps, "out_row": inputs * taps, "out_outer": taps,
    }  # fmt: skip
    numbers |= _lattice("n", w.sizes[2:]) | _lattice("k", y.sizes[2:])
    start = [-p for p in geometry.padding]
    numbers |= _steps(geometry.dilation, geometry.stride, start, x.sizes[2:])
    _run(queue, w, y, x, None, groups, numbers)


# -- by a library ----------------------------------------------------------------------------------


def _by_library(
    queue: Queue,
    direction: str,
    arrays: tuple[Array, Array, Array],
    bias: Array | None,
    geometry: Geometry,
) -> bool:
    """Let cuDNN compute one of (x, w, y) from the others, if it is there and can.

    A bias is added by the same kernel, or afterwards where none does that: to no gradient.
    """
    x, w, y = arrays
    library = queue.convolutions
    if not (x.numel and w.numel and y.numel and library.takes(x.dtype)):
        return False
    if bias is not None and direction == FORWARD:
        what = described(direction, x, w, y, bias, geometry)
        if library.run(what, (*arrays, bias)):
            return True
    if not library.run(described(direction, x, w, y, None, geometry), arrays):
        return False
    if bias is not None:
        out = y if direction == FORWARD else x
        column = bias.at(0, (bias.numel, 1, 1, 1), (1, 0, 0, 0))
        queue.apply(added, out, [out, column.expanded(out.sizes)])
    return True


def added(x, y):
    """x + y"""
    return x + y


# -- numbers of a launch ---------------------------------------------------------------------------


def _divisor(name: str, size: int) -> dict[str, int]:
    values = divisor(max(size, 1))
    parts = ("size", "multiplier", "shift")
    return {f"{name}_{part}": value for part, value in zip(parts, values, strict=True)}


def _lattice(name: str, sizes: tuple[int, ...]) -> dict[str, int]:
    """The divisors of a lattice's dims, and of all of them together."""
    numbers = _divisor(f"{name}all", prod(sizes))
    for dim, size in zip(lattice_product.DIMS, sizes, strict=True):
        numbers |= _divisor(f"{name}{dim}", size)
    return numbers


def _steps(n_step: Any, k_step: Any, start: Any, sizes: Any) -> dict[str, int]:
    """Where an element of b stands, dim by dim, and how many places there are."""
    named = {"n_step": n_step, "k_step": k_step, "start": start, "size": sizes}
    return {
        f"{name}_{dim}": value
        for name, values in named.items()
        for dim, value in zip(lattice_product.DIMS, values, strict=True)
    }


def _run(
    queue: Queue,
    out: Array,
    a: Array,
    b: Array,
    bias: Array | None,
    groups: int,
    numbers: dict[str, int],
) -> None:
    """Launch the product, and the addition of its slices if there are several."""
    if not out.numel:
        return
    rows = ROWS if numbers["m"] > SIDE else 1
    numbers |= {"tiles_m": -(-numbers["m"] // (SIDE * rows)), "tiles_n": -(-numbers["n"] // TILE_N)}
    blocks = groups * numbers["tiles_m"] * numbers["tiles_n"]
    slices, chunk = _slices(queue, blocks, numbers["k"]) if bias is None else (1, numbers["k"])
    numbers |= {"slices": slices, "chunk": chunk, "out_slice": out.numel}
    wide = max(out.numel * slices, a.numel, b.numel) > NARROW_NUMEL
    target = out if slices == 1 else queue.empty((slices, out.numel), out.dtype.opmath)
    form = Form(out.dtype, target.dtype, rows, bias is not None, "over_d_size" in numbers, wide)
    source = lattice_product.product_kernel(form)
    places = [target.address, a.address, b.address, bias.address if bias else 0]
    values = [*places, *[numbers[name] for name in lattice_product.parameters(form)]]
    queue.launch(source, blocks * slices, (lattice_product.THREADS, 1), values)
    if slices > 1:
        _add_slices(queue, out, target, slices, wide)


def _slices(queue: Queue, blocks: int, count: int) -> tuple[int, int]:
    """(how many slices a sum of `count` products is cut into, products of each)."""
    wanted = -(-queue.processors * BLOCKS_WANTED // blocks)
    slices = max(1, min(wanted, count // LEAST_OF_SLICE))
    chunk = max(-(-count // slices), 1)
    return max(-(-count // chunk), 1), chunk


def _add_slices(queue: Queue, out: Array, parts: Array, slices: int, wide: bool) -> None:
    source = lattice_product.sum_kernel(out.dtype, wide)
    blocks = -(-out.numel // lattice_product.THREADS)
    values = [out.address, parts.address, out.numel, slices]
    queue.launch(source, blocks, (lattice_product.THREADS, 1), values)


# -- kernels with one tap: every output sees one place of the input --------------------------------


def _is_matrix_product(w: Array, geometry: Geometry) -> bool:
    """Whether a convolution is a product per image: one tap, nothing skipped, one group, floats."""
    return (
        prod(w.sizes[2:]) == 1
        and geometry.stride == (1, 1, 1)
        and geometry.padding == (0, 0, 0)
        and geometry.groups == 1
        and w.dtype.kind in "fc"
    )


def _rows(w: Array) -> Array:
    """The weight of one tap as a batch of one matrix."""
    return w.reshaped(1, w.sizes[0], w.sizes[1])


def _multiply_places(queue: Queue, y: Array, x: Array, matrix: Array, bias: Array | None) -> None:
    """y[image] = matrix @ x[image] + bias, all images in one call."""
    images, places = y.sizes[0], prod(y.sizes[2:])
    result = y.reshaped(images, y.sizes[1], places)
    channels = x.sizes[1]
    strides = (1, channels) if not x.is_contiguous else (places, 1)
    places_of_x = x.at(0, (images, channels, places), (channels * places, *strides))
    matrices = matrix.expanded((images, *matrix.sizes[1:]))
    if bias is None:
        multiply(queue, result, matrices, places_of_x)
        return
    column = bias.at(0, (*bias.sizes, 1), (*bias.strides, 1))
    multiply(queue, result, matrices, places_of_x, 1, 1, column.expanded(result.sizes))
