"""Bodies of the factories that follow a tensor: `zeros_like` and its kin, `new_zeros` and its kin.

What is None comes from the tensor: dtype and device, and for `*_like` the order of dims in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core import device as devices
from runtime.core import memory_format as formats
from runtime.core import number
from runtime.core import shape as shapes
from runtime.core.device import device
from runtime.core.dtype import dtype
from runtime.core.layout import layout
from runtime.core.memory_format import memory_format
from runtime.core.tensor import Tensor
from runtime.ops import creation

Options = Any


def empty_like(
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
    make_array: Callable[..., Any] = np.empty,
) -> Tensor:
    """A tensor of the sizes and the memory order of another, undefined or by `make_array`."""
    on = self.device if device is None else devices.device(device)
    if memory_format not in (None, formats.preserve_format):
        own = dtype or self.dtype
        return creation.empty(self._sizes, own, layout, on, None, memory_format, make_array)
    own = self.dtype if dtype is None else creation.dtype_or(dtype, self.dtype)
    made = creation.allocate(self._sizes, own, on, make_array)
    if self._flat is not None:
        return made
    strides = shapes.dense_strides(self._sizes, self._strides)
    return made if strides == made._strides else creation.with_strides(made, strides)


def zeros_like(
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of zeros, of the sizes of another."""
    made = empty_like(self, dtype, layout, device, pin_memory, memory_format, np.zeros)
    return made if made.is_cpu else creation.fill_new(made, 0)


def ones_like(self: Tensor, *options: Options) -> Tensor:
    """A tensor of ones, of the sizes of another."""
    return creation.fill_new(empty_like(self, *options), 1)


def full_like(self: Tensor, fill_value: Any, *options: Options) -> Tensor:
    """A tensor of one value, of the sizes and the dtype of another."""
    made = empty_like(self, *options)
    value = creation.number_of(fill_value)
    number.check_fits(value, made.dtype)
    return creation.fill_new(made, value)


def new_empty(
    self: Tensor,
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values, of the dtype and on the device of another."""
    return creation.empty(
        size, dtype or self.dtype, layout, self.device if device is None else device, pin_memory
    )


def new_zeros(self: Tensor, size: Sequence[int], *options: Options) -> Tensor:
    """A tensor of zeros, of the dtype and on the device of another."""
    return creation.fill_new(new_empty(self, size, *options), 0)


def new_ones(self: Tensor, size: Sequence[int], *options: Options) -> Tensor:
    """A tensor of ones, of the dtype and on the device of another."""
    return creation.fill_new(new_empty(self, size, *options), 1)


def new_full(self: Tensor, size: Sequence[int], fill_value: Any, *options: Options) -> Tensor:
    """A tensor of one value, of the dtype and on the device of another."""
    made = new_empty(self, size, *options)
    value = creation.number_of(fill_value)
    number.check_fits(value, made.dtype)
    return creation.fill_new(made, value)


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values and given strides, of the dtype and on the device of another."""
    on = self.device if device is None else device
    return creation.empty_strided(size, stride, dtype or self.dtype, layout, on, pin_memory)
