"""Shapes and dtypes of copies, casts and fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import number, shape
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.tensor import Tensor

Spec = tuple[Sequence[int], dtype, Sequence[int]]


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> None:
    """`src` must broadcast to the sizes of self."""
    if src._sizes != self._sizes:
        sizes = shape.broadcast_shapes(self._sizes, src._sizes)
        if sizes != self._sizes:
            raise errors.inplace_shape("copy_", self._sizes, sizes)


def clone(self: Tensor, memory_format: memory_format | None = None) -> Spec:
    """The same sizes and dtype, dense strides."""
    return self._sizes, self.dtype, strides_of_copy(self, memory_format)


def to_copy(
    self: Tensor,
    dtype: dtype | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> Spec:
    """The same sizes, another dtype, dense strides."""
    own = self.dtype if dtype is None else dtype
    return self._sizes, own, strides_of_copy(self, memory_format)


def strides_of_copy(self: Tensor, wanted: memory_format | None) -> tuple[int, ...]:
    """The strides of a copy: dense, the dims in the order asked for, by default that of self.

    Raises: RuntimeError if the number of dims does not suit a channels-last format.
    """
    if wanted is None or wanted is formats.preserve_format:
        return shape.dense_strides(self._sizes, self._strides)
    if wanted is formats.contiguous_format:
        return shape.contiguous_strides(self._sizes)
    strides = shape.channels_last_strides(self._sizes, wanted.name)
    if strides is None:
        raise errors.format_needs_rank(wanted.name, formats.RANK[wanted])
    return strides


def fill_(self: Tensor, value: Any) -> None:
    """`value` is a number in the dtype's range, or a 0-d tensor."""
    if not isinstance(value, Tensor):
        number.check_fits(value, self.dtype)
    elif value.ndim:
        raise errors.fill_value_not_scalar(value.ndim)


def zero_(self: Tensor) -> None:
    """Nothing can be wrong."""


def complex_(real: Tensor, imag: Tensor) -> tuple[Sequence[int], dtype]:
    """The broadcast sizes; the dtype with parts of the inputs' dtype."""
    if not dtypes.is_part(real.dtype) or not dtypes.is_part(imag.dtype):
        raise errors.complex_of(real.dtype, imag.dtype)
    if real.dtype is not imag.dtype:
        raise errors.complex_parts_differ(real.dtype, imag.dtype)
    return shape.broadcast_shapes(real._sizes, imag._sizes), real.dtype.to_complex()
