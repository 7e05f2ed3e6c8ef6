"""Shapes and dtypes of copies, casts and fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime import errors
from runtime.core import number, shape
from runtime.core.dtype import dtype
from runtime.core.tensor import Tensor

Spec = tuple[Sequence[int], dtype]


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> None:
    """`src` must broadcast to the sizes of self."""
    if src._sizes != self._sizes:
        sizes = shape.broadcast_shapes(self._sizes, src._sizes)
        if sizes != self._sizes:
            raise errors.inplace_shape("copy_", self._sizes, sizes)


def clone(self: Tensor) -> Spec:
    """The same sizes and dtype."""
    return self._sizes, self.dtype


def to_copy(self: Tensor, dtype: dtype | None = None, *options: Any) -> Spec:
    """The same sizes, another dtype."""
    return self._sizes, self.dtype if dtype is None else dtype


def fill_(self: Tensor, value: Any) -> None:
    """`value` is a number in the dtype's range, or a 0-d tensor."""
    if not isinstance(value, Tensor):
        number.check_fits(value, self.dtype)
    elif value.ndim:
        raise errors.fill_value_not_scalar(value.ndim)


def zero_(self: Tensor) -> None:
    """Nothing can be wrong."""


def complex_(real: Tensor, imag: Tensor) -> Spec:
    """The broadcast sizes; the dtype with parts of the inputs' dtype."""
    if not real.dtype.is_floating_point or not imag.dtype.is_floating_point:
        raise errors.complex_of(real.dtype, imag.dtype)
    if real.dtype is not imag.dtype:
        raise errors.complex_parts_differ(real.dtype, imag.dtype)
    return shape.broadcast_shapes(real._sizes, imag._sizes), real.dtype.to_complex()
