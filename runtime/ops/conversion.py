"""Copies in another memory order, dtype or device: clone, to, type_as, contiguous's work.

The operators underneath write contiguous results; another order is had by permuting around them.
"""

from __future__ import annotations

from typing import Any

from runtime import errors
from runtime.core import device as devices
from runtime.core import key as keys
from runtime.core import memory_format as formats
from runtime.core import shape as shapes
from runtime.core.device import device
from runtime.core.dtype import dtype
from runtime.core.memory_format import memory_format
from runtime.core.tensor import Tensor, make_tensor
from runtime.dispatch import ops

_CHANNELS_LAST_DIMS = {
    formats.channels_last: (0, 2, 3, 1),
    formats.channels_last_3d: (0, 2, 3, 4, 1),
}


def dims_in_memory(self: Tensor, order: memory_format | None) -> tuple[int, ...] | None:
    """Return the dims from outermost to innermost in a copy of self; None where that is 0, 1, 2 ...

    Raises: RuntimeError if the number of dims does not suit a channels-last format.
    """
    if order is None or order is formats.preserve_format:
        if self._flat is not None or shapes.is_contiguous(self._sizes, self._strides):
            return None
        strides = shapes.dense_strides(self._sizes, self._strides)
        if shapes.is_contiguous(self._sizes, strides):
            return None
        return tuple(sorted(range(len(strides)), key=lambda dim: (-strides[dim], dim)))
    if order is formats.contiguous_format:
        return None
    dims = _CHANNELS_LAST_DIMS[order]
    if self.dim() != len(dims):
        raise errors.format_needs_rank(order.name, len(dims))
    return dims


def in_order(dims: tuple[int, ...] | None, self: Tensor, copy: Any) -> Tensor:
    """Call `copy`, whose results are contiguous, so that `dims` is the result's memory order."""
    if dims is None:
        result: Tensor = copy(self)
        return result
    inverse = tuple(sorted(range(len(dims)), key=dims.__getitem__))
    return ops.permute(copy(ops.permute(self, dims)), inverse)  # type: ignore[no-any-return]


def clone(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """A copy with memory of its own; unless told otherwise its dims keep their order in memory."""
    if self._flat is not None and (memory_format is None or memory_format in _ROW_MAJOR):
        return ops._clone(self)  # type: ignore[no-any-return]
    return in_order(dims_in_memory(self, memory_format), self, ops._clone)


_ROW_MAJOR = (formats.preserve_format, formats.contiguous_format)


def to(
    self: Tensor,
    dtype: dtype | None = None,
    device: device | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """The tensor itself if it is what is asked for, otherwise a converted copy."""
    if device is not None and device.__class__ is not devices.device:
        device = devices.device(device)
    same_dtype = dtype is None or self._key & keys.DTYPE_MASK == dtype.index
    same_device = device is None or device is self.device or _is_this_device(self, device)
    if not same_device:
        return _to_device(self, dtype, device, non_blocking, memory_format)
    if copy or not same_dtype or not _is_in_format(self, memory_format):
        return to_copy(self, dtype, memory_format)
    return self


def _is_in_format(self: Tensor, wanted: memory_format | None) -> bool:
    return wanted in (None, formats.preserve_format) or self.is_contiguous(wanted)


def to_copy(
    self: Tensor, dtype: dtype | None = None, memory_format: memory_format | None = None
) -> Tensor:
    """A copy of another dtype on the same device."""
    dims = dims_in_memory(self, memory_format)
    return in_order(dims, self, lambda tensor: ops._to_copy(tensor, dtype=dtype))


def to_dtype(self: Tensor, dtype: dtype, memory_format: memory_format | None = None) -> Tensor:
    """The tensor in another dtype; itself if it has it."""
    if self._key & keys.DTYPE_MASK == dtype.index and memory_format is None:
        return self
    return to(self, dtype, memory_format=memory_format)


def to_of_dtype(
    self: Tensor,
    dtype: dtype,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`to` with a dtype first."""
    return to(self, dtype, None, non_blocking, copy, memory_format)


def to_on_device(
    self: Tensor,
    device: device | None = None,
    dtype: dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`to` with a device first."""
    return to(self, dtype, device, non_blocking, copy, memory_format)


def to_like(
    self: Tensor,
    other: Tensor,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`to` with the dtype and device of another tensor."""
    return to(self, other.dtype, other.device, non_blocking, copy, memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype and on the device of another."""
    return to(self, other.dtype, other.device)


def _is_this_device(self: Tensor, wanted: device) -> bool:
    """cpu:0 is the CPU; an accelerator without an index means the tensor's own."""
    own = self.device
    return own.type == wanted.type and (wanted.index is None or own.index is None)


def _to_device(
    self: Tensor,
    dtype: dtype | None,
    target: device,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    if target.type_index == devices.META:
        return make_tensor(None, self._sizes, dtype or self.dtype, devices.meta)
    if self.is_meta:
        raise errors.no_data_on_meta()
    moved = ops._to_device(self, target, non_blocking)
    return to(moved, dtype, memory_format=memory_format)
