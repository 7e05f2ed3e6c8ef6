"""Convolutions over tensors, where no kernel computes them: products of weights and windows.

All are seen with three spatial dims, the missing ones in front, and by groups: images x
(N, G, C, D, H, W), kernels w (G, O, C, KD, KH, KW), results y (N, G, O, OD, OH, OW). A transposed
convolution is the gradient of a convolution with respect to its images, and its gradients are
convolutions, so that three functions serve all: each writes one of x, w and y, given the others.

The windows, what a kernel sees at each of its places, are laid out for some images at a time, and
one product of matrices for each image and group follows. Where few outputs would read a window,
every element is a sum over the taps. A kernel of one tap, without steps, sees the images
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.common.conv import Geometry, geometry_of

WORKSPACE = 64 << 20
"""Bytes of the windows that are laid out at a time, but of one image at least: much of so many is
still in a device's cache when they are read."""
LARGEST = 4
"""How many times as many one image may take; of a larger one parts are laid out, which meet."""
FEW_OUTPUTS = 4
"""Outputs of a group up to which windows are not worth being written: each is a sum over taps."""

BY_CHANNEL = (1, 2, 0, 3, 4, 5)
"""The dims of images and results by group and channel, of all images."""


def convolution(
    out: Any,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> None:
    """Write the convolution, or the transposed one, plus the bias of each channel."""
    windows = input.shape if transposed else out.shape
    geometry = geometry_of(windows[2:], stride, padding, dilation, groups)
    write = _write_images if transposed else _write_results
    dtype = _multiplied_as(out.dtype)
    if bias is not None:
        bias = bias.to(dtype).reshape((groups, -1))
    given = _images(input.to(dtype), groups), _kernels(weight.to(dtype), groups), bias, geometry
    _write_dense(lambda made: write(_images(made, groups), *given), out, dtype)


def convolution_grad_weight(
    out: Any,
    grad_output: Any,
    input: Any,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    groups: int,
) -> None:
    """Write the gradient of a convolution with respect to its weight."""
    x, y = (grad_output, input) if transposed else (input, grad_output)
    geometry = geometry_of(y.shape[2:], stride, padding, dilation, groups)
    dtype = _multiplied_as(out.dtype)
    x, y = (_images(each.to(dtype), groups) for each in (x, y))
    _write_dense(lambda made: _write_kernels(_kernels(made, groups), x, y, geometry), out, dtype)


def _multiplied_as(dtype: dtypes.dtype) -> dtypes.dtype:
    """The dtype in which matrices are multiplied: there are no products of float8 and complex32."""
    return dtype if dtype in (dtypes.float16, dtypes.bfloat16) else dtype.opmath


def _write_dense(write: Callable[[Any], None], out: Any, dtype: dtypes.dtype) -> None:
    """Write a result where it is; or beside it and copy it, if its channels come last, or if it is
    computed in another dtype."""
    is_dense = out.is_contiguous() and out.dtype is dtype
    made = out if is_dense else out.new_empty(out.shape, dtype=dtype)
    write(made)
    if made is not out:
        out.copy_(made)


def _images(x: Any, groups: int) -> Any:
    """Shape: (N, G * C, *S) -> (N, G, C, D, H, W)."""
    count, channels, *sizes = x.shape
    return x.view((count, groups, channels // groups, *_three(sizes)))


def _kernels(w: Any, groups: int) -> Any:
    """Shape: (G * O, C, *K) -> (G, O, C, KD, KH, KW)."""
    outputs, channels, *taps = w.shape
    return w.view((groups, outputs // groups, channels, *_three(taps)))


def _three(sizes: Sequence[int]) -> Sequence[int]:
    return (*(1,) * (3 - len(sizes)), *sizes)


# -- the three products ----------------------------------------------------------------------------


def _write_results(y: Any, x: Any, w: Any, bias: Any, geometry: Geometry) -> None:
    """y = w * x + bias."""
    if _takes_taps(w, x, y, geometry):
        ops._convolution_taps(x, w, bias, y.shape[3:], *geometry[:3], out=y)
        return
    if bias is not None:
        y.copy_(_by_channel(bias))
    for block in _blocks(w, x, y, geometry):
        windows = _windows(block.images.unsqueeze(3), w, block)
        _multiply(block.results, w.flatten(2), windows, adds=bias is not None)


def _write_images(x: Any, y: Any, w: Any, bias: Any, geometry: Geometry) -> None:
    """x = the gradient that y sends back through w, plus bias."""
    if _takes_taps(w, x, y, geometry):
        ops._convolution_taps_grad_input(y, w, x.shape[3:], *geometry[:3], out=x)
    else:
        _fold_products(x, y, w, geometry)
    if bias is not None:
        x.add_(_by_channel(bias))


def _fold_products(x: Any, y: Any, w: Any, geometry: Geometry) -> None:
    """x = windows of the products of kernels and y, each element added where it was seen."""
    matrices = w.flatten(2).transpose(1, 2)
    if _image_bytes(w, x, y, geometry) > LARGEST * WORKSPACE:
        x.zero_()  # parts of an image overlap
    is_at_each = geometry.stride == (1, 1, 1)
    for images, results, (*steps, _), overlaps in _blocks(w, x, y, geometry):
        columns = results.flatten(3).flatten(0, 1)
        if not overlaps and _sees_images(w, images, results.shape[3:], geometry):
            _multiply(images, matrices, columns)
            continue
        windows = y.new_empty((*results.shape[:2], *w.shape[2:], *results.shape[3:]))
        _multiply(windows, matrices, columns)
        given = windows, images.shape[3:], *steps, is_at_each
        if overlaps:
            images.add_(ops._convolution_fold(*given))
        else:
            ops._convolution_fold(*given, out=images)


def _write_kernels(w: Any, x: Any, y: Any, geometry: Geometry) -> None:
    """w = the sum over images and places of y times what each tap sees of x.

    Of several blocks each is rounded once, and they are added in float32.
    """
    if _takes_taps(w, x, y, geometry):
        ops._convolution_taps_grad_weight(y, x, w.shape[3:], *geometry[:3], out=w)
        return
    target, total = w.flatten(2), None
    for block in _blocks(w, x, y, geometry):
        windows = _windows(block.images.permute(BY_CHANNEL), w, block)
        given = block.results.permute(BY_CHANNEL).flatten(2), windows.transpose(1, 2)
        if block.images is x:  # there is no other block
            ops.bmm(*given, out=target)
            return
        part = ops.bmm(*given)
        total = part if total is None else total.to(part.dtype.opmath) + part
    target.copy_(total)


# -- how they are computed -------------------------------------------------------------------------


def _takes_taps(w: Any, x: Any, y: Any, geometry: Geometry) -> bool:
    """Whether each element is a sum over the taps: there are few outputs, or there is nothing."""
    if not (w.numel() and x.numel() and y.numel()):
        return True
    is_product = geometry.groups == 1 and _sees_images(w, x, y.shape[3:], geometry)
    return w.shape[1] <= FEW_OUTPUTS and not is_product


def _sees_images(w: Any, x: Any, places: Sequence[int], geometry: Geometry) -> bool:
    """Whether the windows are the images: of one tap, with nothing skipped and nothing added."""
    is_plain = geometry.stride == (1, 1, 1) and geometry.padding == (0, 0, 0)
    return is_plain and prod(w.shape[3:]) == 1 and x.shape[-3:] == places


class Block(NamedTuple):
    """What is computed at a time. geometry: of these results. overlaps: whether other blocks see
    some of the same elements."""

    images: Any
    results: Any
    geometry: Geometry
    overlaps: bool = False


def _image_bytes(w: Any, x: Any, y: Any, geometry: Geometry) -> int:
    """What the windows of an image take, if they are to be laid out."""
    if _sees_images(w, x, y.shape[3:], geometry):
        return 0
    return int(geometry.groups * _taps(w) * prod(y.shape[3:]) * x.element_size())


def _blocks(w: Any, x: Any, y: Any, geometry: Geometry) -> Iterator[Block]:
    """Yield what has windows of WORKSPACE bytes: some images, or parts of one."""
    count, nbytes = x.shape[0], _image_bytes(w, x, y, geometry)
    most = max(WORKSPACE // max(nbytes, 1), 1)
    if most >= count and nbytes <= LARGEST * WORKSPACE:
        yield Block(x, y, geometry)
        return
    for start in range(0, count, most):
        length = min(most, count - start)
        block = Block(x.narrow(0, start, length), y.narrow(0, start, length), geometry)
        if nbytes <= LARGEST * WORKSPACE:
            yield block
        else:
            yield from _parts(w, block, -(-nbytes // WORKSPACE))


def _parts(w: Any, block: Block, count: int) -> Iterator[Block]:
    """Yield an image in so many parts along its first spatial dim with several places."""
    images, results, geometry = block[:3]
    dim = next((d for d, size in enumerate(results.shape[3:]) if size > 1), 0)
    stride, padding, dilation = (each[dim] for each in geometry[:3])
    reach, size = dilation * (w.shape[3 + dim] - 1) + 1, images.shape[3 + dim]
    length = -(-results.shape[3 + dim] // count)
    for start in range(0, results.shape[3 + dim], length):
        own = results.narrow(3 + dim, start, min(length, results.shape[3 + dim] - start))
        begin = start * stride - padding
        first = min(max(begin, 0), size)
        last = min(begin + (own.shape[3 + dim] - 1) * stride + reach, size)
        pads = list(geometry.padding)
        pads[dim] = first - begin
        seen = images.narrow(3 + dim, first, max(last - first, 0))
        yield Block(seen, own, geometry._replace(padding=(pads[0], pads[1], pads[2])), True)


def _windows(images: Any, w: Any, block: Block) -> Any:
    """Shape: (*B, C, N, D, H, W) -> (prod(B), C * taps, N * places)."""
    windows, places = images, block.results.shape[3:]
    if not _sees_images(w, images, places, block.geometry):
        windows = ops._convolution_windows(images, w.shape[3:], places, *block.geometry[:3])
    return windows.reshape((prod(images.shape[:-5]), _taps(w), images.shape[-4] * prod(places)))


def _taps(w: Any) -> int:
    """How many elements a window of a group has."""
    return prod(w.shape[2:])


def _by_channel(bias: Any) -> Any:
    """Shape: (G, C) -> (G, C, 1, 1, 1)."""
    return bias.reshape((*bias.shape, 1, 1, 1))


def _multiply(out: Any, matrices: Any, columns: Any, adds: bool = False) -> None:
    """out = matrices @ columns for each image and group, or out += that.

    Shape: (G, m, k), (N * G, k, places) -> contiguous (N, G, ...) of m * places elements each.
    Where there are groups, matrices are repeated for each image: few beside the windows.
    """
    every = matrices.expand((out.shape[0], *matrices.shape)).flatten(0, 1)
    target = out.view((every.shape[0], every.shape[1], columns.shape[2]))
    if adds:
        target.baddbmm_(every, columns)
    else:
        ops.bmm(every, columns, out=target)
