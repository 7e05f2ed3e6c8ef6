"""Shapes and checks of pooling over two or three spatial dims."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.ops.shapes.conv import by

Sizes = tuple[int, ...]

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}


def max_pool2d_with_indices(
    self: Any,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """Shape: (N, C, H, W) or (C, H, W) -> the same with the numbers of windows, twice."""
    return _max_pool("max_pool2d", 2, self, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(*args: Any) -> Any:
    """Shape: as `max_pool2d_with_indices`, once."""
    return max_pool2d_with_indices(*args)[0]


def max_pool1d(
    self: Any, kernel_size: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> tuple[Sizes, Any]:
    """Shape: (*B, W) -> (*B, windows). The composite has checked the numbers."""
    length = self.shape[-1]
    count = window_count(length, kernel_size, stride, padding, dilation, ceil_mode)
    return (*self.shape[:-1], count), self.dtype


def avg_pool1d(
    self: Any, kernel_size: int, stride: int, padding: int, ceil_mode: bool, _: bool
) -> tuple[Sizes, Any]:
    """Shape: as `max_pool1d`; the checks are those of an image of height 1."""
    image = SimpleNamespace(
        shape=(*self.shape[:-1], 1, self.shape[-1]), ndim=self.ndim + 1, dtype=self.dtype
    )
    numbers = (1, kernel_size), (1, stride), (0, padding)
    sizes, dtype = _avg_pool("avg_pool2d", 2, image, *numbers, ceil_mode, None)
    return (*sizes[:-2], sizes[-1]), dtype


def max_pool3d_with_indices(
    self: Any,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """Shape: (N, C, D, H, W) or (C, D, H, W) -> the same with the numbers of windows, twice."""
    return _max_pool("max_pool3d", 3, self, kernel_size, stride, padding, dilation, ceil_mode)


def _check_ndim(self: Any, count: int) -> None:
    if self.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for input"
        )


def _max_pool(
    name: str,
    count: int,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Any, Any]:
    size, step, pad = _parameters(name, count, kernel_size, stride, padding)
    spread = numbers(name, "dilation", dilation, count)
    if min(spread) <= 0:
        raise errors.dilation_not_positive(spread)
    _check_ndim(self, count)
    _check_spatial(self, count, f"Expected {count + 1}D or {count + 2}D")
    _check_padding(pad, size, spread)
    sizes = _pooled_sizes(self.shape, count, size, step, pad, spread, ceil_mode)
    return (sizes, self.dtype), (sizes, dtypes.int64)


def numbers(name: str, parameter: str, value: Any, count: int) -> Sizes:
    """One number per spatial dim, which fits 32 bits as in PyTorch; a single one stands for all."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) not in (1, count):
        raise RuntimeError(
            f"{name}: {parameter} must either be a single int, or a tuple of {WORDS[count]}"
        )
    for each in values:
        if not -(2**31) <= each < 2**31:
            raise RuntimeError(
                f"{name}: {parameter}: value cannot be converted to type int without overflow: "
                f"{each}"
            )
    return values * count if len(values) == 1 else values


def _parameters(
    name: str, count: int, kernel_size: Any, stride: Any, padding: Any
) -> tuple[Sizes, Sizes, Sizes]:
    size = numbers(name, "kernel_size", kernel_size, count)
    absent = stride is None or (not isinstance(stride, int) and not len(stride))
    step = size if absent else numbers(name, "stride", stride, count)
    pad = numbers(name, "padding", padding, count)
    if 0 in step:
        raise RuntimeError("stride should not be zero")
    if min(size) <= 0 or min(step) < 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {list(size)} and stride {list(step)}"
        )
    return size, step, pad


def _check_spatial(self: Any, count: int, start: str) -> None:
    sizes = self.shape
    skipped = 1 if self.ndim == count + 2 else 0
    if 0 in sizes[skipped:]:
        raise RuntimeError(
            f"{start} (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got:{list(sizes)}"
        )


def _check_padding(pad: Sizes, size: Sizes, spread: Sizes) -> None:
    for p, k, d in zip(pad, size, spread, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )


def window_count(size: int, k: int, s: int, p: int, d: int, ceil_mode: bool) -> int:
    """How many windows there are; the last may reach over the end only if `ceil_mode`."""
    span = size + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)
    count = span // s + 1
    if ceil_mode and (count - 1) * s >= size + p:
        count -= 1  # it would start in the padding
    return count


def _pooled_sizes(
    sizes: Sizes,
    count: int,
    size: Sizes,
    step: Sizes,
    pad: Sizes,
    spread: Sizes,
    ceil_mode: bool,
) -> Sizes:
    windows = tuple(
        [
            window_count(length, k, s, p, d, ceil_mode)
            for length, k, s, p, d in zip(sizes[-count:], size, step, pad, spread, strict=True)
        ]
    )
    if min(windows) < 1:
        given = (sizes[-count - 1], *sizes[-count:])
        result = (sizes[-count - 1], *[max(w, 0) for w in windows])
        raise RuntimeError(
            f"Given input size: ({by(given).replace(' ', '')}). Calculated output size: "
            f"({by(result).replace(' ', '')}). Output size is too small"
        )
    return (*sizes[:-count], *windows)


def avg_pool2d(
    self: Any,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> tuple[Sizes, Any]:
    """Shape: (N, C, H, W) or (C, H, W) -> the same with the numbers of windows."""
    parameters = (kernel_size, stride, padding, ceil_mode, divisor_override)
    return _avg_pool("avg_pool2d", 2, self, *parameters)


def avg_pool3d(
    self: Any,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> tuple[Sizes, Any]:
    """Shape: (N, C, D, H, W) or (C, D, H, W) -> the same with the numbers of windows."""
    parameters = (kernel_size, stride, padding, ceil_mode, divisor_override)
    return _avg_pool("avg_pool3d", 3, self, *parameters)


def _avg_pool(
    name: str,
    count: int,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    divisor_override: int | None,
) -> tuple[Sizes, Any]:
    size, step, pad = _parameters(name, count, kernel_size, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    if count == 2 and self.ndim <= count:
        raise errors.dim_out_of_range(-count - 1, self.ndim)
    _check_ndim(self, count)
    _check_spatial(self, count, f"Expected {count + 1}D or {count + 2}D")
    spread = (1,) * count
    _check_padding(pad, size, spread)
    if count == 3 and any(k > n for k, n in zip(size, self.shape[-3:], strict=True)):
        raise RuntimeError(
            f"input image ({_by_axis('', self.shape[-3:])}) smaller than kernel size "
            f"({_by_axis('k', size)})"
        )
    return _pooled_sizes(self.shape, count, size, step, pad, spread, ceil_mode), self.dtype


def _by_axis(prefix: str, sizes: Sequence[int]) -> str:
    """The sizes of a volume with their names."""
    return " ".join(f"{prefix}{axis}: {n}" for axis, n in zip("THW", sizes, strict=True))


def max_pool_backward(
    grad_output: Any, indices: Any, sizes: Sequence[int], count: int, *windows: Any
) -> tuple[Sizes, Any]:
    """Shape: the input's, `sizes`."""
    return tuple(sizes), grad_output.dtype


def pool_backward(grad_output: Any, sizes: Sequence[int], *parameters: Any) -> tuple[Sizes, Any]:
    """Shape: the input's, `sizes`."""
    return tuple(sizes), grad_output.dtype


def adaptive_avg_pool2d(self: Any, output_size: Any) -> tuple[Sizes, Any]:
    """Shape: the spatial sizes become `output_size`."""
    return _adaptive("adaptive_avg_pool2d", 2, self, output_size), self.dtype


def adaptive_avg_pool3d(self: Any, output_size: Any) -> tuple[Sizes, Any]:
    """Shape: the spatial sizes become `output_size`."""
    return _adaptive("adaptive_avg_pool3d", 3, self, output_size), self.dtype


def adaptive_max_pool2d(self: Any, output_size: Any) -> tuple[Any, Any]:
    """Shape: the spatial sizes become `output_size`, twice."""
    sizes = _adaptive("adaptive_max_pool2d", 2, self, output_size, 3)
    return (sizes, self.dtype), (sizes, dtypes.int64)


def adaptive_max_pool2d_values(self: Any, output_size: Any) -> tuple[Sizes, Any]:
    """Shape: the spatial sizes become `output_size`."""
    return _adaptive("adaptive_max_pool2d", 2, self, output_size, 3), self.dtype


def adaptive_max_pool3d(self: Any, output_size: Any) -> tuple[Any, Any]:
    """Shape: the spatial sizes become `output_size`, twice."""
    sizes = _adaptive("adaptive_max_pool3d", 3, self, output_size, 4)
    return (sizes, self.dtype), (sizes, dtypes.int64)


def _adaptive(
    name: str, count: int, self: Any, output_size: Sequence[int], filled: int = 0
) -> Sizes:
    """The sizes of results. filled: how many of the last dims have elements, if not `count`."""
    wanted = (output_size,) * count if isinstance(output_size, int) else tuple(output_size)
    if len(wanted) != count:
        raise RuntimeError(f"{name}: output_size must be {count}")
    if self.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got {list(self.shape)}"
        )
    if min(wanted) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 "
            f"but received {list(wanted)}"
        )
    for dim in range(self.ndim - (filled or count), self.ndim):
        if self.shape[dim] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, "
                f"but input has sizes {list(self.shape)} with dimension {dim} being empty"
            )
    return (*self.shape[:-count], *wanted)
