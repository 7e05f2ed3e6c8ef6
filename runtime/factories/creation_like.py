"""Bodies of the factories that follow a tensor: `zeros_like` and its kin, `new_zeros` and its kin.

What is None comes from the tensor: dtype and device, and for `*_like` the order of dims in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import batched, number, sparse
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.device import DeviceLike, device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.factories import creation


def empty_like(
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
    value: creation.Number | None = None,
) -> Tensor:
    """A tensor of the sizes and the memory order of another, undefined or of one value."""
    flat = self._flat
    is_usual = layout is None and device is None and memory_format is None and not pin_memory
    if is_usual and flat is not None and not self._key & keys.NOT_HERE:
        own = self.dtype if dtype is None else creation.dtype_or(dtype, self.dtype)
        return creation.allocate_dense(flat.size, self._sizes, self._strides, own, value)
    if flat is None and batched.is_batched(self):
        samples = batched.samples_of(self)
        made = empty_like(samples.value, dtype, layout, device, pin_memory, memory_format, value)
        return batched.batch(made, samples.level)
    on = self.device if device is None else devices.device(device)
    if layout is not None or (self._flat is None and sparse.is_sparse(self)):
        wanted = self.layout if layout is None else layout
        if wanted is not layouts.strided:
            own = dtype or self.dtype
            if wanted in _COMPRESSED and self.layout in _COMPRESSED:
                return _like_compressed(self, own, wanted, on, value)
            return creation.empty(self._sizes, own, wanted, on, pin_memory, memory_format, value)
    if memory_format is not None and memory_format is not formats.preserve_format:
        own = dtype or self.dtype
        return creation.empty(self._sizes, own, layout, on, pin_memory, memory_format, value)
    own = self.dtype if dtype is None else creation.dtype_or(dtype, self.dtype)
    made = creation.allocate(self._sizes, own, on, value)
    if pin_memory:
        made = creation.pinned(made)
    if self._flat is not None:
        return made
    strides = shapes.kept_dense_strides(self._sizes, self._strides)
    return made if strides == made._strides else creation.with_strides(made, strides)


_BLOCKED = (layouts.sparse_bsr, layouts.sparse_bsc)
_COMPRESSED = (layouts.sparse_csr, layouts.sparse_csc, *_BLOCKED)


def _like_compressed(
    self: Tensor, dtype: dtype, wanted: layout, on: device, value: creation.Number | None
) -> Tensor:
    """A tensor with the entries of a compressed one; of zeros, or in another layout, it has none.

    Raises: NotImplementedError for another layout and a value, or of blocks for one without.
    """
    storage = sparse.storage_of(self)
    pattern, given = storage.pattern, storage.values
    assert isinstance(pattern, sparse.CompressedPattern)
    if wanted is self.layout and (value is None or value != 0):
        parts = [part.to(on, copy=True) for part in pattern.parts]
        made = creation.allocate(given._sizes, dtype, on, value)
        return sparse.build_sparse(self._sizes, pattern.over(*parts), made)
    if value or (wanted in _BLOCKED) is not (self.layout in _BLOCKED):
        raise errors.layout_not_strided(wanted)
    dense = given._sizes[pattern.plain.ndim + (2 if pattern.blocksize else 0) :]
    return creation.no_compressed(self._sizes, dtype, wanted, on, pattern.blocksize, dense)


def zeros_like(
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of zeros, of the sizes of another."""
    return empty_like(self, dtype, layout, device, pin_memory, memory_format, 0)


def ones_like(
    self: Tensor,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of ones, of the sizes of another."""
    return empty_like(self, dtype, layout, device, pin_memory, memory_format, 1)


def full_like(
    self: Tensor,
    fill_value: Any,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of one value, of the sizes and the dtype of another."""
    value, own = creation.number_of(fill_value), creation.dtype_or(dtype, self.dtype)
    number.check_fits(value, own)
    return empty_like(self, own, layout, device, pin_memory, memory_format, value)


def new_empty(
    self: Tensor,
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
    value: creation.Number | None = None,
) -> Tensor:
    """A tensor of the dtype and on the device of another, undefined or of one value."""
    own, on = dtype or dtypes.BY_INDEX[self._key & keys.DTYPE_MASK], device
    if self._key & keys.NOT_HERE:
        if batched.is_batched(self):
            samples = batched.samples_of(self)
            sizes = [samples.value._sizes[0], *size]
            made = new_empty(samples.value, sizes, dtype, layout, device, pin_memory, value)
            return batched.batch(made, samples.level)
        on = self.device if on is None else on
    elif on is None:
        on = devices.cpu
    if layout is None and self._flat is None and sparse.is_sparse(self):
        layout = self.layout
    return creation.empty(size, own, layout, on, pin_memory, None, value)


def new_zeros(
    self: Tensor,
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of zeros, of the dtype and on the device of another."""
    return new_empty(self, size, dtype, layout, device, pin_memory, 0)


def new_ones(
    self: Tensor,
    size: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of ones, of the dtype and on the device of another."""
    return new_empty(self, size, dtype, layout, device, pin_memory, 1)


def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Any,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of one value, of the dtype and on the device of another."""
    value, own = creation.number_of(fill_value), creation.dtype_or(dtype, self.dtype)
    number.check_fits(value, own)
    return new_empty(self, size, own, layout, device, pin_memory, value)


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """A tensor of undefined values and given strides, of the dtype and on the device of another."""
    own, on = dtype or dtypes.BY_INDEX[self._key & keys.DTYPE_MASK], device
    if on is None:
        on = self.device if self._key & keys.NOT_HERE else devices.cpu
    return creation.empty_strided(size, stride, own, layout, on, pin_memory)
