"""How the statements of normalisation see operands: as rows, and what scales their elements."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import Order, View


def layer_norm(
    result0: Any,
    result1: Any,
    result2: Any,
    input: Any,
    normalized_shape: Any,
    weight: Any,
    bias: Any,
    eps: float,
) -> dict[str, View] | None:
    """Rows of all elements of the last dims, and a number for each row."""
    rows = {"result0": result0, "input": input}
    numbers = {"result1": result1, "result2": result2}
    return _rows(len(normalized_shape), rows, numbers, {"weight": weight, "bias": bias})


def layer_norm_backward(
    result0: Any,
    result1: Any,
    result2: Any,
    grad_out: Any,
    input: Any,
    normalized_shape: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: Any,
) -> dict[str, View] | None:
    """The same of gradients."""
    rows = {"result0": result0, "grad_out": grad_out, "input": input}
    parameters = {"result1": result1, "result2": result2, "weight": weight}
    return _rows(len(normalized_shape), rows, {"mean": mean, "rstd": rstd}, parameters)


MOST_OF_SLICE = 31
"""Rows of channels that are folded at once: fewer than those of which a warp takes one each."""


def batch_norm_training(
    result0: Any,
    result1: Any,
    result2: Any,
    result3: Any,
    input: Any,
    weight: Any,
    bias: Any,
    eps: float,
    by_rows: bool,
) -> dict[str, View | Order]:
    """Samples of channels of places; by rows, each place is a sample."""
    dims, images = range(len(input.sizes)), {"result0": result0, "input": input}
    if by_rows:
        return _seen(images, lambda image: _slices(image, 1), (0, *dims[2:], 1))
    return _seen(images, lambda image: _planes(image, 1), tuple(dims))


def batch_norm_evaluation(
    out: Any, input: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float
) -> dict[str, View | Order]:
    """The same."""
    return _channels({"out": out, "input": input}, out)


def batch_norm_backward(
    result0: Any,
    result1: Any,
    result2: Any,
    grad_out: Any,
    input: Any,
    weight: Any,
    mean: Any,
    spread: Any,
    train: bool,
    eps: float,
    output_mask: Any,
) -> dict[str, View | Order]:
    """The same, and nothing of a gradient that is not wanted."""
    images = {"grad_out": grad_out, "input": input}
    is_wanted = tuple(result0.sizes) == tuple(input.sizes)
    if is_wanted:
        return _channels({"result0": result0, **images}, result0)
    return {"result0": View((0, 0, 0), (0, 0, 0)), **_channels(images, input)}


def _channels(images: dict[str, Any], first: Any) -> dict[str, View | Order]:
    """Images as samples of channels of places; as the first of them lies, the others are copied.

    Where channels lie side by side, slices of all places are the samples, of which neighbouring
    threads fold neighbouring channels.
    """
    dims = tuple(range(len(first.sizes)))
    if _planes(first) is not None or _slices(first) is None:
        return _seen(images, _planes, dims)
    return _seen(images, _slices, (0, *dims[2:], 1))


def _seen(
    images: dict[str, Any], see: Callable[[Any], View | None], dims: tuple[int, ...]
) -> dict[str, View | Order]:
    """The views of images, or the order in which those are copied first that have none."""
    views = {name: see(each) for name, each in images.items()}
    orders = {name: Order(dims) for name, view in views.items() if view is None}
    return orders or {name: view for name, view in views.items() if view is not None}


def _planes(image: Any, fewest: int = 2) -> View | None:
    """(N, C, *S) as (N, C, places), if these lie side by side and are so many at least."""
    step = merged_stride(image.sizes[2:], image.strides[2:])
    count = prod(image.sizes[2:])
    if step is None or count < fewest or step > image.strides[1]:
        return None
    return View((*image.sizes[:2], count), (*image.strides[:2], step))


def _slices(image: Any, most: int = MOST_OF_SLICE) -> View | None:
    """(N, C, *S) as (slices, C, places), if one stride leads through samples and places.

    most: how many places a slice has at most.
    """
    sizes, strides = ((each[0], *each[2:]) for each in (image.sizes, image.strides))
    step, count = merged_stride(sizes, strides), prod(sizes)
    if step is None:
        return None
    size = next(n for n in range(most, 0, -1) if count % n == 0)
    return View((count // size, image.sizes[1], size), (size * step, image.strides[1], step))


def group_norm(
    result0: Any,
    result1: Any,
    result2: Any,
    input: Any,
    weight: Any,
    bias: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> dict[str, View | Order]:
    """Samples of groups of channels of places, and numbers for each group or channel."""
    images = {"result0": result0, "input": input}
    return _groups(images, {"weight": weight, "bias": bias}, group)


def group_norm_backward(
    result0: Any,
    result1: Any,
    result2: Any,
    grad_out: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Any,
) -> dict[str, View | Order]:
    """The same of gradients."""
    images = {"result0": result0, "grad_out": grad_out, "input": input}
    channels = {"result1": result1, "result2": result2, "weight": weight}
    return _groups(images, channels, group)


def _groups(
    images: dict[str, Any], channels: dict[str, Any], group: int
) -> dict[str, View | Order]:
    """Images and numbers for channels by group; images whose places do not lie side by side are
    copied to where they do, and the first then is, too."""
    views: dict[str, View | Order] = {}
    first, *operands = images
    orders = {name: order for name in operands if (order := _order(images[name])) is not None}
    if orders:
        return {first: Order(tuple(range(len(images[first].sizes)))), **orders}
    for name, each in images.items():
        count, own, *places = each.sizes
        step, along = merged_stride(places, each.strides[2:]) or 0, each.strides[1]
        sizes, inner = (count, group, own // group, prod(places)), own // group
        views[name] = View(sizes, (each.strides[0], inner * along, along, step))
    for name, each in channels.items():
        if each is not None:
            (size,), (step,) = each.sizes, each.strides
            views[name] = View((group, size // group), (step * (size // group), step))
    return views


def _order(image: Any) -> Order | None:
    """The order in which an image is copied whose places do not lie side by side."""
    step = merged_stride(image.sizes[2:], image.strides[2:])
    if step is not None and step <= image.strides[1]:
        return None
    return Order(tuple(range(len(image.sizes))))


def _rows(
    count: int, rows: dict[str, Any], numbers: dict[str, Any], parameters: dict[str, Any]
) -> dict[str, View] | None:
    """Tensors as dense rows of their last dims, a number for each row, and one row alone."""
    views: dict[str, View] = {}
    for name, each in rows.items():
        split = len(each.sizes) - count
        steps = [
            merged_stride(each.sizes[part], each.strides[part])
            for part in (slice(split), slice(split, None))
        ]
        if None in steps or (steps[1] != 1 and prod(each.sizes[split:]) > 1):
            return None
        views[name] = View((prod(each.sizes[:split]), prod(each.sizes[split:])), (steps[0], 1))
    for name, each in (*numbers.items(), *parameters.items()):
        if each is not None:
            step = merged_stride(each.sizes, each.strides)
            if step is None:
                return None
            views[name] = View((prod(each.sizes),), (step,))
    return views
