"""Windows of pooling, seen with three spatial dims: missing ones stand in front, of size 1.

Statements see a channel behind the spatial dims: the tensors' own one where channels lie side by
side, which makes rows of them vectors; elsewhere one of one element.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.core.shape import FEWEST_CHANNELS
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View

Triple = tuple[int, int, int]


def triple(value: Any, count: int, missing: int) -> Triple:
    """Three numbers of one or `count`; `missing` for the dims in front."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        values *= count
    return (missing,) * (3 - count) + values


def average2d(
    out: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> dict[str, View | int]:
    """Planes, and the numbers of a mean over windows."""
    numbers = _numbers("hw", out.sizes, kernel_size, stride, padding, 1)
    return {
        **_seen(2, out=out, self=self),
        **numbers,
        **_counting("hw", numbers, count_include_pad, divisor_override),
    }


def average3d(
    out: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> dict[str, View | int]:
    """Volumes, and the numbers of a mean over windows."""
    numbers = _numbers("dhw", out.sizes, kernel_size, stride, padding, 1)
    return {
        **_seen(3, out=out, self=self),
        **numbers,
        **_counting("dhw", numbers, count_include_pad, divisor_override),
    }


def greatest1d(out: Any, self: Any, *_: Any) -> dict[str, int]:
    """How many windows there are."""
    return {"windows": out.sizes[-1]}


def average1d(
    out: Any, self: Any, size: int, stride: int, padding: int, _: bool, include_pad: bool
) -> dict[str, int]:
    """The same, and how far beyond the line elements are counted."""
    return {"windows": out.sizes[-1], "border": padding * include_pad}


def greatest2d(
    out: Any, self: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, _: bool
) -> dict[str, View | int]:
    """Planes, and the numbers of a maximum over windows."""
    numbers = _numbers("hw", out.sizes, kernel_size, stride, padding, dilation)
    return {**_seen(2, out=out, self=self), **numbers}


def greatest_told2d(
    values: Any,
    indices: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> dict[str, View | int]:
    """The same where it is told, too, which element it is."""
    numbers = _numbers("hw", values.sizes, kernel_size, stride, padding, dilation)
    return {**_seen(2, values=values, indices=indices, self=self), **numbers}


def greatest_told3d(
    values: Any,
    indices: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> dict[str, View | int]:
    """The same of volumes."""
    numbers = _numbers("dhw", values.sizes, kernel_size, stride, padding, dilation)
    return {**_seen(3, values=values, indices=indices, self=self), **numbers}


def average_backward(
    out: Any,
    grad_output: Any,
    sizes: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    count: int,
) -> dict[str, View | int]:
    """Both as volumes, and the numbers of the mean."""
    volumes = {"out": _volumes(out, count), "grad_output": _volumes(grad_output, count)}
    numbers = _numbers("dhw"[3 - count :], grad_output.sizes, kernel_size, stride, padding, 1)
    alone = {"windows_d": 1, "kernel_d": 1, "stride_d": 1, "padding_d": 0, "dilation_d": 1}
    numbers = {**alone, **numbers}
    counting = _counting("dhw", numbers, count_include_pad, divisor_override)
    return {**_seen(3, **volumes), **numbers, **counting, **_lengths(volumes["out"])}


def chosen_backward(
    out: Any,
    grad_output: Any,
    indices: Any,
    sizes: Any,
    count: int,
    kernel_size: Any = None,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    gathers: bool = False,
) -> dict[str, View | int] | None:
    """Windows as [..., z, y, x, channel], elements as one dim before the channel; there is one
    channel where they do not lie side by side.

    Window z may see element d only where `d * per - before <= z * step <= d * per + behind`.
    """
    volumes = {"grad_output": _volumes(grad_output, count), "indices": _volumes(indices, count)}
    elements, lengths = _merged(out, count), _volumes(out, count).sizes[-3:]
    if elements is None:
        return None
    is_last = elements.strides[-2:-1] == (1,) and all(
        each.strides[-4:-3] == (1,) for each in volumes.values()
    )
    views = {"out": _with_channel(elements, 1, is_last)}
    views |= {name: _with_channel(each, 3, is_last) for name, each in volumes.items()}
    counts = volumes["indices"].sizes[-3:]
    if kernel_size is None:
        seen = [(size, n, size - 1, n - 1) for n, size in zip(counts, lengths, strict=True)]
    else:
        size, step, pad = windows_of(count, kernel_size, stride, padding)
        each = zip(size, step, pad, triple(dilation, count, 1), strict=True)
        seen = [(s, 1, (k - 1) * d - p, p) for k, s, p, d in each]
    told = {
        f"{name}_{side}": number
        for side, numbers in zip("dhw", seen, strict=True)
        for name, number in zip(("step", "per", "before", "behind"), numbers, strict=True)
    }
    _, height, width = lengths
    return {**views, **told, "elements": prod(lengths), "height": height, "width": width}


def _merged(spec: Any, count: int) -> View | None:
    """Planes or volumes with their elements as the last dim, if one stride walks them."""
    split = len(spec.sizes) - count
    step = merged_stride(spec.sizes[split:], spec.strides[split:])
    if step is None:
        return None
    return View((*spec.sizes[:split], prod(spec.sizes[split:])), (*spec.strides[:split], step))


def _seen(count: int, **specs: Any) -> dict[str, View]:
    """Planes or volumes with their channels behind them."""
    lying = [(spec.sizes[-count - 1], spec.strides[-count - 1]) for spec in specs.values()]
    is_last = all(size >= FEWEST_CHANNELS and stride == 1 for size, stride in lying)
    return {
        name: _with_channel(View(tuple(spec.sizes), tuple(spec.strides)), count, is_last)
        for name, spec in specs.items()
    }


def _with_channel(view: View, behind: int, is_last: bool) -> View:
    """The view with the dim before the last ones behind these, or another one of one element."""
    if not is_last:
        return View((*view.sizes, 1), (*view.strides, 1))
    at = len(view.sizes) - behind - 1
    sizes, strides = list(view.sizes), list(view.strides)
    sizes.append(sizes.pop(at))
    strides.append(strides.pop(at))
    return View(tuple(sizes), tuple(strides))


def adaptive_backward(out: Any, grad_output: Any, sizes: Any, count: int) -> dict[str, View | int]:
    """Both as volumes."""
    volumes = {"out": _volumes(out, count), "grad_output": _volumes(grad_output, count)}
    return {**_seen(3, **volumes), **_lengths(volumes["out"])}


def _lengths(volumes: View) -> dict[str, int]:
    """The sides of volumes."""
    return dict(zip(("depth", "height", "width"), volumes.sizes[-3:], strict=True))


def _volumes(spec: Any, count: int) -> View:
    """Planes or volumes as volumes."""
    split, missing = len(spec.sizes) - count, 3 - count
    sizes = (*spec.sizes[:split], *(1,) * missing, *spec.sizes[split:])
    return View(sizes, (*spec.strides[:split], *(0,) * missing, *spec.strides[split:]), 0)


def adaptive(out: Any, self: Any, output_size: Any) -> dict[str, View | int]:
    """Planes or volumes, and how many windows there are along each side."""
    return {**_seen(len(output_size), out=out, self=self), **_windows(output_size)}


def adaptive_told(values: Any, indices: Any, self: Any, output_size: Any) -> dict[str, View | int]:
    """The same where it is told, too, which element it is."""
    views = _seen(len(output_size), values=values, indices=indices, self=self)
    return {**views, **_windows(output_size)}


def _windows(output_size: Any) -> dict[str, int]:
    sides = "dhw"[3 - len(output_size) :]
    return {f"windows_{side}": count for side, count in zip(sides, output_size, strict=True)}


def _numbers(
    sides: str, sizes: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> dict[str, int]:
    """How many windows there are along each side, and how they lie: `kernel_h`, `stride_h`."""
    count = len(sides)
    size, step, pad = windows_of(count, kernel_size, stride, padding)
    counts = (1,) * (3 - count) + tuple(sizes[-count:])
    by_name = {"windows": counts, "kernel": size, "stride": step, "padding": pad}
    by_name["dilation"] = triple(dilation, count, 1)
    return {
        f"{name}_{side}": numbers[3 - count + i]
        for name, numbers in by_name.items()
        for i, side in enumerate(sides)
    }


def _counting(
    sides: str, numbers: dict[str, int], include_pad: bool, divisor: int | None
) -> dict[str, int]:
    """How far beyond the plane elements are counted, and what is divided by instead, if not 0."""
    borders = {f"border_{side}": numbers[f"padding_{side}"] * include_pad for side in sides}
    return {**borders, "divisor": divisor or 0}


def windows_of(count: int, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    """Size, step and padding in three dims."""
    size = triple(kernel_size, count, 1)
    step = size if stride is None or stride == [] or stride == () else triple(stride, count, 1)
    return size, step, triple(padding, count, 0)
