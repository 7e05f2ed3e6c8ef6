"""Pooling as users call it, over the operators with indices and over one dim fewer."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.bindings import integers
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.cached import cached_by_numbers
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.ops.composite.view.reshaping import in_format_of, own_view, reshape
from torchgen_out._runtime.ops.shapes.pooling import numbers, window_count


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """max_pool2d of an image of height 1."""
    numbers = _max_pool1d_numbers(input._sizes, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices and not grad_mode.is_recorded(input):
        return ops._max_pool1d(input, *numbers, ceil_mode)
    size, step, pad, spread = numbers
    pooled, indices = ops.max_pool2d_with_indices(
        _as_image(input), (1, size), (1, step), (0, pad), (1, spread), ceil_mode
    )
    pooled = _as_row(pooled)
    return (pooled, _as_row(indices)) if return_indices else pooled


def _as_image(row: Any) -> Any:
    """A view with height 1."""
    return calls.unsqueeze[row._key](row, -2)


def _as_row(image: Any) -> Any:
    """A view without the height, which is 1."""
    return calls.squeeze_dim[image._key](image, -2)


@cached_by_numbers
def _max_pool1d_numbers(
    sizes: Size, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, ...]:
    """The numbers of one dim, checked."""
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(sizes)}"
        )
    size, pad, spread = (
        _checked("max_pool1d", name, value)
        for name, value in (
            ("kernel_size", kernel_size),
            ("padding", padding),
            ("dilation", dilation),
        )
    )
    step = size if _is_absent(stride) else _checked("max_pool1d", "stride", stride)
    for name, value in (("kernel_size", size), ("stride", step), ("dilation", spread)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad > size // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={pad} and kernel_size={size}"
        )
    count = window_count(sizes[-1], size, step, pad, spread, ceil_mode)
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    return size, step, pad, spread


def _checked(name: str, parameter: str, value: Any) -> int:
    """The one number of a dim. **Raises** TypeError or RuntimeError for something else."""
    if value.__class__ is int and -(2**31) <= value < 2**31:
        return value
    return numbers(name, parameter, integers.as_ints(value, name, parameter, 2), 1)[0]


def _single(value: Any) -> int:
    return value if isinstance(value, int) else int(value[0])


def _one_size(name: str, output_size: Any) -> int:
    output_size = integers.as_ints(output_size, name, "output_size", 2)
    if not isinstance(output_size, int) and len(output_size) != 1:
        raise RuntimeError(
            f"{name}() argument 'output_size' should contain one int (got {len(output_size)})"
        )
    return _single(output_size)


def _is_absent(stride: Any) -> bool:
    return stride is None or (not isinstance(stride, int) and not len(stride))


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum, with its places if asked for."""
    step = () if stride is None else stride
    numbers = kernel_size, step, padding, dilation, ceil_mode
    if not return_indices and not grad_mode.is_recorded(input):
        return ops._max_pool2d(input, *numbers)
    found = ops.max_pool2d_with_indices(input, *numbers)
    return found if return_indices else found[0]


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum, with its places if asked for."""
    step = () if stride is None else stride
    found = ops.max_pool3d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


def avg_pool1d(
    self: Any,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """avg_pool2d of an image of height 1."""
    _check_1d("avg_pool1d", self)
    numbers = _avg_pool1d_numbers(kernel_size, stride, padding)
    if not grad_mode.is_recorded(self):
        return ops._avg_pool1d(self, *numbers, ceil_mode, count_include_pad)
    size, step, pad = numbers
    pooled = ops.avg_pool2d(
        _as_image(self), (1, size), (1, step), (0, pad), ceil_mode, count_include_pad
    )
    return _as_row(pooled)


@cached_by_numbers
def _avg_pool1d_numbers(kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, ...]:
    """The numbers of one dim, checked."""
    size, pad = (
        _checked("avg_pool1d", name, value)
        for name, value in (("kernel_size", kernel_size), ("padding", padding))
    )
    step = size if _is_absent(stride) else _checked("avg_pool1d", "stride", stride)
    return size, step, pad


def _check_1d(name: str, self: Any) -> None:
    if len(self._sizes) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {self.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )


def adaptive_avg_pool1d(self: Any, output_size: Any) -> Any:
    """adaptive_avg_pool2d of an image of height 1."""
    _check_1d("adaptive_avg_pool1d", self)
    size = _one_size("adaptive_avg_pool1d", output_size)
    return _as_row(ops._adaptive_avg_pool2d(_as_image(self), (1, size)))


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """None in `output_size` keeps the input's size; one window is a mean."""
    sizes = filled(output_size, input, 2)
    if tuple(sizes) == (1, 1) and input.ndim >= 3:
        return in_format_of(input, input.mean((-2, -1), True))
    return ops._adaptive_avg_pool2d(input, sizes)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """None in `output_size` keeps the input's size."""
    return ops._adaptive_avg_pool3d(input, filled(output_size, input, 3))


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """adaptive_max_pool2d of an image of height 1."""
    _check_1d("adaptive_max_pool1d", input)
    size = _one_size("adaptive_max_pool1d", output_size)
    image = _as_image(input)
    if not return_indices and not grad_mode.is_recorded(input):
        return _as_row(ops._adaptive_max_pool2d_values(image, (1, size)))
    found = ops._adaptive_max_pool2d(image, (1, size))
    pooled = _as_row(found[0])
    return (pooled, _as_row(found[1])) if return_indices else pooled


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum, with its places if asked for."""
    sizes = filled(output_size, input, 2)
    if not return_indices and not grad_mode.is_recorded(input):
        return ops._adaptive_max_pool2d_values(input, sizes)
    found = ops._adaptive_max_pool2d(input, sizes)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum, with its places if asked for."""
    found = ops._adaptive_max_pool3d(input, filled(output_size, input, 3))
    return found if return_indices else found[0]


def filled(output_size: Any, input: Any, count: int) -> Any:
    """`output_size` as one number per spatial dim, None replaced by the input's size."""
    if isinstance(output_size, int):
        return (output_size,) * count
    if output_size is None:
        output_size = (None,) * count
    if input.ndim <= len(output_size):
        raise ValueError(
            f"Input dimension should be at least {len(output_size) + 1}, but got {input.ndim}"
        )
    if None not in output_size:
        return output_size
    own = input.shape[-count:]
    return tuple(
        [size if wanted is None else wanted for wanted, size in zip(output_size, own, strict=True)]
    )


# Undoing a maximum.


def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Each maximum back in its place, zeros elsewhere."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Each maximum back in its place, zeros elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Each maximum back in its place, zeros elsewhere."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _max_unpool(
    count: int,
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Any:
    if input.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            "elements in indices should be type int64 but got: "
            f"{errors.scalar_type_name(indices.dtype)}"
        )
    given = kernel_size, stride, padding, output_size
    flat, zeros, whole = _unpooling(count, input._sizes, *given)
    maxima, places = reshape(input, flat), reshape(indices, flat)
    made = input.new_zeros(zeros)
    made = calls.scatter_src[made._key, places._key, maxima._key](made, -1, places, maxima)
    return in_format_of(input, own_view(made, whole))


@cached_by_numbers
def _unpooling(
    count: int, own: Size, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[tuple[int, ...], ...]:
    """The sizes of the input and of the result with all places in one dim, and the result's own.

    **Raises** RuntimeError for dims or sizes of the input, and as `numbers` and `_unpooled_sizes`.
    """
    name = f"max_unpool{count}d"
    if len(own) not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name}: expected an input of {count + 1} or {count + 2} dims, got {len(own)}"
        )
    if 0 in own[-count - 1 :]:
        raise RuntimeError(
            f"{name}: Expected input to have non-zero size for non-batch dimensions, "
            f"but got {list(own)}"
        )
    size = numbers(name, "kernel_size", kernel_size, count)
    step = size if _is_absent(stride) else numbers(name, "stride", stride, count)
    pad = numbers(name, "padding", padding, count)
    lead, pooled = tuple(own[:-count]), own[-count:]
    default = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(pooled, step, size, pad, strict=True)]
    sizes = _unpooled_sizes(default, step, output_size, count)
    return (*lead, prod(pooled)), (*lead, prod(sizes)), (*lead, *sizes)


def _unpooled_sizes(default: list[int], step: Any, output_size: Any, count: int) -> list[int]:
    """The sizes asked for, which must lie within a stride of the usual ones."""
    if output_size is None:
        if min(default) < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"{default}"
            )
        return default
    name = f"max_unpool{count}d"
    given = integers.as_ints(output_size, name, "output_size", 6)
    if isinstance(given, int) or len(given) not in (count, count + 2):
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, "
            f"but it is {output_size}"
        )
    wanted = list(given)[-count:]
    for dim, (size, usual, s) in enumerate(zip(wanted, default, step, strict=True)):
        if not usual - s < size < usual + s:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {dim} must be between {usual - s} and '
                f"{usual + s})"
            )
    return wanted
