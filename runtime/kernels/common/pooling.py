"""Windows of pooling, seen with three spatial dims: missing ones stand in front, of size 1."""

from __future__ import annotations

from typing import Any

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
) -> dict[str, int]:
    """The numbers of a mean over windows of planes."""
    numbers = _numbers("hw", out.sizes, kernel_size, stride, padding, 1)
    return {**numbers, **_counting("hw", numbers, count_include_pad, divisor_override)}


def average3d(
    out: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> dict[str, int]:
    """The numbers of a mean over windows of volumes."""
    numbers = _numbers("dhw", out.sizes, kernel_size, stride, padding, 1)
    return {**numbers, **_counting("dhw", numbers, count_include_pad, divisor_override)}


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
) -> dict[str, int]:
    """The numbers of a maximum over windows of planes."""
    return _numbers("hw", out.sizes, kernel_size, stride, padding, dilation)


def greatest_told2d(values: Any, indices: Any, *args: Any) -> dict[str, int]:
    """The same where it is told, too, which element it is."""
    return greatest2d(values, *args)


def greatest_told3d(
    values: Any,
    indices: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> dict[str, int]:
    """The same of volumes."""
    return _numbers("dhw", values.sizes, kernel_size, stride, padding, dilation)


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
    views = {"out": _volumes(out, count), "grad_output": _volumes(grad_output, count)}
    numbers = _numbers("dhw"[3 - count :], grad_output.sizes, kernel_size, stride, padding, 1)
    alone = {"windows_d": 1, "kernel_d": 1, "stride_d": 1, "padding_d": 0, "dilation_d": 1}
    numbers = {**alone, **numbers}
    lengths = dict(zip(("depth", "height", "width"), views["out"].sizes[-3:], strict=True))
    counting = _counting("dhw", numbers, count_include_pad, divisor_override)
    return {**views, **numbers, **counting, **lengths}


def _volumes(spec: Any, count: int) -> View:
    """Planes or volumes as volumes."""
    split, missing = len(spec.sizes) - count, 3 - count
    sizes = (*spec.sizes[:split], *(1,) * missing, *spec.sizes[split:])
    return View(sizes, (*spec.strides[:split], *(0,) * missing, *spec.strides[split:]), 0)


def adaptive(out: Any, self: Any, output_size: Any) -> dict[str, int]:
    """How many windows there are along each side."""
    sides = "dhw"[3 - len(output_size) :]
    return {f"windows_{side}": count for side, count in zip(sides, output_size, strict=True)}


def adaptive_told(values: Any, indices: Any, self: Any, output_size: Any) -> dict[str, int]:
    """The same where it is told, too, which element it is."""
    return adaptive(values, self, output_size)


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
